// Plans in a bundle: adding them leaves everything else as and where it is, and readers take what they know.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "formats/io/hdf5/bundle_writer.hpp"
#include "formats/layout/bundle_layout.hpp"
#include "runtime/bundle/bundle_matrix.hpp"
#include "tests/runtime/random_problem.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::test;
using formats::BundleWriter;
using runtime::Bundle;

namespace {

constexpr std::string_view kKey = "sptile-plan 1\nop spmm\nformat bittcf\nn 128\n";

void write_bundle(const std::string& path, std::uint64_t user_block = 64 << 10) {
  Random random(1);
  const formats::Csr a = random_matrix(50, 60, 0.1, DType::f32, random);
  auto writer =
      BundleWriter::create(path, {.user_block = user_block, .attributes = {{"seed", std::int64_t{1}}}});
  REQUIRE(writer);
  REQUIRE(writer->add_csr(a.view()));
  const Formatted bittcf = format_matrix(a, "bittcf", {});
  REQUIRE(writer->add_format(bittcf.data.view(), {}));
  REQUIRE(writer->commit());
}

struct Parts {
  std::vector<std::int64_t> numbers;
  std::vector<std::byte> schedule;
};
Parts parts(std::size_t bytes) { return {{1, 2, 3}, std::vector<std::byte>(bytes, std::byte{7})}; }

/// A file open for reading.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { ::close(fd_); }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

Status add(const std::string& path, std::string_view key, const Parts& plan,
           const std::string& without = {}) {
  const OpenFile file(path);
  auto writer = BundleWriter::extend(file.fd(), path);
  if (!writer) return tl::unexpected(writer.error());
  if (!without.empty())
    if (Status s = writer->remove_plan(without); !s) return s;
  if (Status s = writer->add_plan(key, plan.numbers, plan.schedule); !s) return s;
  if (const auto size = writer->commit(); !size) return tl::unexpected(size.error());
  return {};
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::shared_ptr<const Bundle> opened(const std::string& path) {
  auto bundle = Bundle::open(path);
  REQUIRE_MESSAGE(bundle, bundle.error().message);
  for (const runtime::BundleArray& array : (*bundle)->arrays()) CHECK((*bundle)->verify_checksum(array));
  return *bundle;
}

/// The entries of a bundle's table.
std::vector<formats::BundleEntry> table_of(const std::string& file) {
  formats::BundleHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  std::vector<formats::BundleEntry> entries(header.entries);
  std::memcpy(entries.data(), file.data() + sizeof header, entries.size() * sizeof entries[0]);
  return entries;
}

}  // namespace

TEST_CASE("stored plans: every other array keeps its bytes and its place") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  write_bundle(path);
  const std::string before = bytes_of(path);
  REQUIRE(add(path, kKey, parts(5000)));
  const std::string after = bytes_of(path);
  CHECK(after.size() > before.size());
  const auto entries = table_of(after);
  CHECK(entries.size() == table_of(before).size() + 3);
  for (const formats::BundleEntry& entry : table_of(before)) {
    const auto same = std::find_if(entries.begin(), entries.end(), [&](const formats::BundleEntry& e) {
      return std::memcmp(&e, &entry, sizeof e) == 0;
    });
    CAPTURE(std::string(entry.path));
    CHECK(same != entries.end());
    CHECK(after.compare(entry.offset, entry.bytes, before, entry.offset, entry.bytes) == 0);
  }
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0444);
}

TEST_CASE("stored plans: come back as they were added, oldest first") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  write_bundle(path);
  CHECK(opened(path)->plans().empty());
  REQUIRE(add(path, kKey, parts(5000)));
  REQUIRE(add(path, "sptile-plan 1\nop sddmm\n", parts(0)));
  const auto bundle = opened(path);
  REQUIRE(bundle->plans().size() == 2);
  const runtime::StoredPlan& first = bundle->plans()[0];
  CHECK(first.name == "/plans/0000");
  CHECK(first.key == kKey);
  CHECK(first.field("format") == "bittcf");
  CHECK(first.field("n") == "128");
  CHECK(first.field("op") == "spmm");
  CHECK(first.field("form") == "");
  CHECK(first.field("kernel") == "");
  CHECK(std::ranges::equal(first.schedule.numbers, parts(0).numbers));
  CHECK(std::ranges::equal(first.schedule.bytes, parts(5000).schedule));
  CHECK(bundle->plans()[1].name == "/plans/0001");
  CHECK(bundle->plans()[1].schedule.bytes.empty());
  const auto matrix = runtime::matrix_of(bundle, "bittcf");
  REQUIRE(matrix);
  CHECK(matrix->stored.size() == 2);
}

TEST_CASE("stored plans: one that takes another's place is the newest, and leaves no gap that grows") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  write_bundle(path);
  REQUIRE(add(path, kKey, parts(50000)));
  REQUIRE(add(path, "sptile-plan 1\nop sddmm\n", parts(100)));
  REQUIRE(add(path, kKey, parts(50000), "/plans/0000"));
  const auto size = std::filesystem::file_size(path);
  for (int again = 0; again < 3; ++again) REQUIRE(add(path, kKey, parts(50000), "/plans/0002"));
  CHECK(std::filesystem::file_size(path) == size);
  const auto bundle = opened(path);
  REQUIRE(bundle->plans().size() == 2);
  CHECK(bundle->plans()[0].name == "/plans/0001");
  CHECK(bundle->plans()[1].name == "/plans/0002");
}

TEST_CASE("stored plans: the same additions give the same bytes") {
  const TemporaryFolder folder;
  std::string first;
  for (const char* name : {"a.h5", "b.h5"}) {
    const std::string path = folder / name;
    write_bundle(path);
    REQUIRE(add(path, kKey, parts(5000)));
    if (first.empty()) first = bytes_of(path);
    CHECK(bytes_of(path) == first);
  }
}

TEST_CASE("stored plans: a table that is full, a file that is none, a writer that gives up change nothing") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  write_bundle(path, 4096);
  for (int plan = 0; plan < 6; ++plan) REQUIRE(add(path, kKey, parts(10)));
  const std::string before = bytes_of(path);
  Status s{};
  for (int plan = 0; plan < 4 && s; ++plan) s = add(path, kKey, parts(10));
  REQUIRE_FALSE(s);
  CHECK(s.error().code == Errc::usage);
  {
    const OpenFile file(path);
    auto writer = BundleWriter::extend(file.fd(), path);
    REQUIRE(writer);
    REQUIRE(writer->remove_plan("/plans/0000"));
  }
  CHECK(opened(path)->plans().size() >= 6);
  const std::string text = folder / "text.h5";
  std::ofstream(text) << "no bundle\n" << std::string(100, ' ');
  CHECK(add(text, kKey, parts(10)).error().code == Errc::bad_input);
  CHECK(add(folder / "none.h5", kKey, parts(10)).error().code == Errc::io);
  std::string broken = before;
  broken[70] ^= 1;  // in the table
  const std::string damaged = folder / "damaged.h5";
  std::ofstream(damaged, std::ios::binary) << broken;
  CHECK(add(damaged, kKey, parts(10)).error().code == Errc::bad_input);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 3);
}

TEST_CASE("stored plans: they go into the bundle that is open, and not into one that has its name") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.h5", other = folder / "b.h5";
  write_bundle(path);
  write_bundle(other, 4096);
  const std::string others = bytes_of(other);
  const auto bundle = Bundle::open(path, {.keep_open = true});
  REQUIRE(bundle);
  REQUIRE((*bundle)->descriptor() >= 0);
  CHECK(Bundle::open(path).value()->descriptor() == -1);
  auto writer = BundleWriter::extend((*bundle)->descriptor(), path);
  REQUIRE(writer);
  REQUIRE(writer->add_plan(kKey, parts(10).numbers, parts(10).schedule));
  std::filesystem::rename(other, path);
  const auto late = writer->commit();
  REQUIRE_FALSE(late);
  CHECK(late.error().code == Errc::io);
  CHECK(late.error().message == "was replaced while it was open; nothing was written; try again");
  CHECK(BundleWriter::extend((*bundle)->descriptor(), path).error().code == Errc::io);
  CHECK(bytes_of(path) == others);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("stored plans: what is not for this version is left out") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  write_bundle(path);
  REQUIRE(add(path, "a key with \x1b[31mcolours\n", parts(10)));
  REQUIRE(add(path, std::string(5000, 'x'), parts(10)));
  REQUIRE(add(path, kKey, parts(10)));
  const auto bundle = opened(path);
  REQUIRE(bundle->plans().size() == 1);
  CHECK(bundle->plans()[0].name == "/plans/0002");
}
