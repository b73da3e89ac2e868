// Bundles in the hands of HDF5 programs: what they read, and what is noticed after they wrote.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "runtime/bundle/bundle.hpp"
#include "tests/bundle_sample.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using runtime::Bundle;
namespace fs = std::filesystem;

namespace {

constexpr const char* kPython = "/usr/bin/python3";  // the one that has Debian's h5py

/// Runs a command in the shell, quietly; true when it succeeded.
bool shell(const std::string& command) {
  return std::system(("(" + command + ") >/dev/null 2>&1").c_str()) == 0;
}

bool have_h5py() { return shell(std::string(kPython) + " -c 'import h5py, numpy'"); }
bool have_tools() {
  return shell("h5repack --version && h5jam -h && h5unjam -h && h5copy -h && h5dump --version");
}

/// A bundle that its owner may write to, and a name for what an HDF5 program makes of it.
struct Files {
  TemporaryFolder folder;
  std::string in = folder / "in.h5", out = folder / "out.h5";
  Files() {
    REQUIRE(BundleSample().write(in));
    fs::permissions(in, fs::perms::owner_write, fs::perm_options::add);
  }
  /// Runs Python code that finds the bundle as `f`, opened for changes.
  [[nodiscard]] bool change(const std::string& code) const {
    return shell(std::string(kPython) + " -c \"import h5py\nf = h5py.File('" + in + "', 'r+')\n" + code +
                 "\nf.close()\"");
  }
};

void check_refused(const std::string& path, const std::string& part) {
  const auto bundle = Bundle::open(path);
  REQUIRE(!bundle);
  CAPTURE(bundle.error().text());
  CHECK(bundle.error().code == Errc::bad_input);
  CHECK(bundle.error().message.find(part) != std::string::npos);
}

int arrays_with_changed_data(const std::string& path) {
  const auto bundle = Bundle::open(path);
  REQUIRE_MESSAGE(bundle, bundle.error().text());
  int changed = 0;
  for (const runtime::BundleArray& array : (*bundle)->arrays())
    changed += (*bundle)->verify_checksum(array) ? 0 : 1;
  return changed;
}

}  // namespace

TEST_CASE("h5py sees every array where the table says, and /csr as binsparse describes it") {
  if (!have_h5py()) return skip("h5py (Debian: python3-h5py)");
  const char* root = std::getenv("SPTILE_SOURCE_ROOT");
  const std::string script =
      std::string(root != nullptr ? root : ".") + "/tests/formats/io/bundle_readback.py";
  const TemporaryFolder folder;
  for (const DType values : {DType::f32, DType::f16, DType::bf16}) {
    const std::string path = folder / (std::string(name_of(values)) + ".h5");
    REQUIRE(BundleSample(DType::f32, values)
                .write(path, {.attributes = {{"seed", std::int64_t{7}}, {"note", std::string("größe")}}}));
    const std::string command =
        std::string(kPython) + " " + script + " " + path + " " + std::string(name_of(values));
    CHECK(std::system((command + " >/dev/null").c_str()) == 0);
  }
}

TEST_CASE("h5dump reads a bundle, and a pattern's one value") {
  if (!have_tools()) return skip("h5dump, h5repack, h5copy and h5jam (Debian: hdf5-tools)");
  const TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  REQUIRE(BundleSample(DType::none, DType::none).write(path));
  CHECK(shell("h5dump " + path));
  CHECK(shell("h5dump -d /csr/values " + path + " | grep -q '(0): 1$'"));
  CHECK(shell("h5dump -a /csr/binsparse " + path + " | grep -q 'iso.float32.'"));
  CHECK(shell("h5dump -d /values " + path + " | grep -q '(0): 1$'"));
  CHECK(shell("h5dump -a /sptile_version " + path));
}

TEST_CASE("files rewritten by HDF5 tools keep a stale table and are refused") {
  if (!have_tools()) return skip("h5dump, h5repack, h5copy and h5jam (Debian: hdf5-tools)");
  for (const std::string options : {"", "-f GZIP=1", "--latest", "-l CHUNK=2"}) {
    const Files files;
    CAPTURE(options);
    REQUIRE(shell("h5repack " + options + " " + files.in + " " + files.out));
    check_refused(files.out, "rewritten by an HDF5 tool");
  }
  const Files files;
  std::ofstream(files.folder / "text") << "hello";
  REQUIRE(shell("h5jam -i " + files.in + " -u " + (files.folder / "text") + " -o " + files.out));
  CHECK(!Bundle::open(files.out));
  REQUIRE(shell("h5jam --clobber -i " + files.in + " -u " + (files.folder / "text") + " -o " + files.out));
  check_refused(files.out, "user block that is not sptile's");
}

TEST_CASE("copies without the user block are refused as HDF5 that is no bundle") {
  if (!have_tools()) return skip("h5dump, h5repack, h5copy and h5jam (Debian: hdf5-tools)");
  const Files files;
  REQUIRE(shell("h5copy -i " + files.in + " -o " + files.out + " -s /csr -d /csr"));
  check_refused(files.out, "is HDF5, but not a sptile bundle");
  REQUIRE(shell("h5unjam -i " + files.in + " -u " + (files.folder / "block") + " -o " +
                (files.folder / "bare.h5")));
  check_refused(files.folder / "bare.h5", "is HDF5, but not a sptile bundle");
}

TEST_CASE("opening for changes without changing anything is no damage") {
  if (!have_h5py()) return skip("h5py (Debian: python3-h5py)");
  const Files files;
  const auto before = bytes_of(files.in);
  REQUIRE(files.change("f['csr/values'][0]"));
  CHECK(bytes_of(files.in) == before);
}

TEST_CASE("changes of the structure by h5py are refused") {
  if (!have_h5py()) return skip("h5py (Debian: python3-h5py)");
  for (const std::string code :
       {"f.attrs['more'] = 'x' * 5000", "f['more'] = [1, 2, 3]", "f.create_group('more')"}) {
    const Files files;
    CAPTURE(code);
    REQUIRE(files.change(code));
    check_refused(files.in, "rewritten by an HDF5 tool");
  }
}

TEST_CASE("values changed in place are seen by the checksum of the data, and by nothing else") {
  if (!have_h5py()) return skip("h5py (Debian: python3-h5py)");
  const Files files;
  CHECK(arrays_with_changed_data(files.in) == 0);
  REQUIRE(files.change("f['csr/values'][2] = 77"));
  CHECK(arrays_with_changed_data(files.in) == 1);
}

TEST_CASE("an array deleted and made again never gives wrong numbers unnoticed") {
  if (!have_h5py()) return skip("h5py (Debian: python3-h5py)");
  const Files files;
  REQUIRE(files.change("del f['csr/values']\nf['csr/values'] = [9.0, 9.0, 9.0, 9.0, 9.0]"));
  CHECK((!Bundle::open(files.in) || arrays_with_changed_data(files.in) >= 1));
}
