#include "formats/io/atomic_file.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;
namespace fs = std::filesystem;

namespace {

std::string content(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const AtomicFile& file, const std::string& text) {
  REQUIRE(::write(file.fd(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

long files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

// Runs `work` in a child and gives back its wait status.
int in_child(const std::function<void()>& work) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("a committed file appears whole, with its mode, and nothing else is left") {
  const TemporaryFolder folder;
  const std::string path = folder / "out.bin";
  auto file = AtomicFile::create(path, false);
  REQUIRE(file);
  put(*file, "hello");
  CHECK(!fs::exists(path));
  CHECK(fs::exists(file->temporary_path()));
  REQUIRE(file->commit(0444));
  CHECK(content(path) == "hello");
  CHECK((fs::status(path).permissions() & fs::perms::mask) == static_cast<fs::perms>(0444));
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("an existing target is refused without force and replaced with it") {
  const TemporaryFolder folder;
  const std::string path = folder / "out.bin";
  std::ofstream(path) << "old";
  const auto refused = AtomicFile::create(path, false);
  REQUIRE(!refused);
  CHECK(refused.error().code == Errc::usage);
  CHECK(refused.error().text() == path + ": file exists; --force replaces it");

  auto file = AtomicFile::create(path, true);
  REQUIRE(file);
  put(*file, "new");
  CHECK(content(path) == "old");
  REQUIRE(file->commit());
  CHECK(content(path) == "new");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a target that appears while we write is not replaced without force") {
  const TemporaryFolder folder;
  const std::string path = folder / "out.bin";
  auto file = AtomicFile::create(path, false);
  REQUIRE(file);
  std::ofstream(path) << "somebody else's";
  const Status done = file->commit();
  REQUIRE(!done);
  CHECK(done.error().code == Errc::usage);
  CHECK(content(path) == "somebody else's");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a dropped file leaves nothing behind, a moved one is dropped once") {
  const TemporaryFolder folder;
  {
    auto first = AtomicFile::create(folder / "out.bin", false);
    REQUIRE(first);
    AtomicFile second = std::move(*first);
    put(second, "half");
    *first = std::move(second);
    CHECK(files_in(folder.path()) == 1);
  }
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("folders, missing folders, devices and empty names are refused") {
  const TemporaryFolder folder;
  const auto code = [](const std::string& path) { return AtomicFile::create(path, true).error().code; };
  CHECK(code(folder.path().string()) == Errc::usage);
  CHECK(code(folder.path().string() + "/") == Errc::usage);
  CHECK(code("") == Errc::usage);
  CHECK(code("/dev/null") == Errc::usage);
  CHECK(code(folder / "missing/out.bin") == Errc::io);
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("a link stays a link: its target is replaced") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "real");
  std::ofstream(folder / "real/file") << "old";
  fs::create_symlink("real/file", folder / "link");
  auto file = AtomicFile::create(folder / "link", true);
  REQUIRE(file);
  put(*file, "new");
  REQUIRE(file->commit());
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(content(folder / "real/file") == "new");
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("temporaries of dead writers are removed by the next writer, those of living ones stay") {
  const TemporaryFolder folder;
  const std::string path = folder / "out.bin";
  const int status = in_child([&] {
    auto file = AtomicFile::create(path, false);
    ::raise(SIGKILL);
  });
  CHECK(WIFSIGNALED(status));
  CHECK(files_in(folder.path()) == 1);
  std::ofstream(folder / ".out.bin.sptile-0-0.tmp") << "a name that no process has";
  std::ofstream(folder / ".other.sptile-1-0.tmp") << "another target";

  auto alive = AtomicFile::create(path, false);
  REQUIRE(alive);
  CHECK(files_in(folder.path()) == 3);
  auto second = AtomicFile::create(path, false);
  REQUIRE(second);
  CHECK(fs::exists(alive->temporary_path()));
  CHECK(alive->temporary_path() != second->temporary_path());
}

TEST_CASE("a signal handler can discard what is unfinished") {
  const TemporaryFolder folder;
  const int status = in_child([&] {
    std::signal(SIGTERM, [](int) {
      discard_unfinished_files();
      ::_exit(9);
    });
    auto first = AtomicFile::create(folder / "a", false);
    auto second = AtomicFile::create(folder / "b", false);
    auto finished = AtomicFile::create(folder / "c", false);
    if (!finished->commit()) ::_exit(1);
    ::raise(SIGTERM);
  });
  CHECK(WEXITSTATUS(status) == 9);
  CHECK(files_in(folder.path()) == 1);
  CHECK(fs::exists(folder / "c"));
}

TEST_CASE("more files may be open than a signal handler remembers") {
  const TemporaryFolder folder;
  std::vector<AtomicFile> files;
  for (int i = 0; i < 40; ++i) {
    auto file = AtomicFile::create(folder / std::to_string(i), false);
    REQUIRE(file);
    files.push_back(std::move(*file));
  }
  files.clear();
  CHECK(files_in(folder.path()) == 0);
}
