#include "formats/io/files/atomic_folder.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "formats/io/files/atomic_file.hpp"
#include "tests/file_contents.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;
namespace fs = std::filesystem;

namespace {

bool is_part(std::string_view name) { return name.starts_with("part-"); }

void put(Result<AtomicFile> file, const std::string& text) {
  REQUIRE(file);
  REQUIRE(file->write(text));
  REQUIRE(file->commit(0444));
}

void put(const std::string& path, const std::string& text) { put(AtomicFile::create(path, false), text); }

long entries_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

Result<AtomicFolder> begin_one(const std::string& path, const std::string& text, bool force = false) {
  auto folder = AtomicFolder::create(path, force, is_part);
  if (folder) put(folder->create_file("part-0"), text);
  return folder;
}

std::string temporary_in(const fs::path& parent) {
  for (const auto& entry : fs::directory_iterator(parent))
    if (entry.path().filename().string().starts_with(".out.")) return entry.path();
  return {};
}

}  // namespace

TEST_CASE("an atomic folder appears whole when it is committed, and not before") {
  const TemporaryFolder parent;
  const std::string path = parent / "out";
  auto folder = begin_one(path, "new");
  REQUIRE(folder);
  CHECK_FALSE(fs::exists(path));
  REQUIRE(folder->commit());
  CHECK(content(path + "/part-0") == "new");
  CHECK(entries_in(parent.path()) == 1);
}

TEST_CASE("an atomic folder that is not committed leaves nothing, finished files or not") {
  const TemporaryFolder parent;
  {
    const auto folder = begin_one(parent / "out/", "new");
    REQUIRE(folder);
    const auto unfinished = folder->create_file("part-1");
    CHECK(unfinished);
  }
  CHECK(entries_in(parent.path()) == 0);
  auto folder = begin_one(parent / "out", "new");
  REQUIRE(folder);
  discard_unfinished_files();  // what a signal does
  CHECK(entries_in(parent.path()) == 0);
  CHECK_FALSE(folder->commit());
}

TEST_CASE("an atomic folder takes the place of an empty folder, and with force of its own kind") {
  const TemporaryFolder parent;
  const std::string path = parent / "out";
  fs::create_directory(path);
  REQUIRE(begin_one(path, "first")->commit());
  const auto refused = begin_one(path, "second");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::usage);
  CHECK(refused.error().message == "directory exists; --force replaces it");
  put(path + "/part-7", "old");
  REQUIRE(begin_one(path, "second", true)->commit());
  CHECK(content(path + "/part-0") == "second");
  CHECK(entries_in(path) == 1);
  CHECK(entries_in(parent.path()) == 1);
}

TEST_CASE("an atomic folder removes no files of others") {
  const TemporaryFolder parent;
  const std::string path = parent / "out";
  fs::create_directory(path);
  put(path + "/thesis.tex", "years");
  const auto refused = begin_one(path, "new", true);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::usage);
  CHECK(refused.error().message.starts_with("has other files, such as thesis.tex"));
  put(parent / "file", "x");
  CHECK(begin_one(parent / "file", "new", true).error().message == "is not a directory");
  CHECK(begin_one(parent / "none/out", "new").error().code == Errc::io);
  CHECK(entries_in(parent.path()) == 2);
}

TEST_CASE("the next writer removes a temporary folder whose writer was killed, and no other") {
  const TemporaryFolder parent;
  const std::string stale = parent / ".out.sptile-0123456789abcdef.tmp";
  fs::create_directory(stale);
  put(stale + "/part-0", "half");
  const auto living = begin_one(parent / "out", "living");
  REQUIRE(living);
  CHECK_FALSE(fs::exists(stale));
  auto second = begin_one(parent / "out", "second");
  REQUIRE(second);
  CHECK(entries_in(parent.path()) == 2);
  CHECK(second->commit());
}

// What others can do in a folder that is theirs, too.
TEST_CASE("a folder that was swapped for a link gets no files, and none are left where it went") {
  const TemporaryFolder parent;
  const std::string path = parent / "out", elsewhere = parent / "elsewhere", taken = parent / "taken";
  fs::create_directory(elsewhere);
  auto folder = AtomicFolder::create(path, false, is_part);
  REQUIRE(folder);
  const std::string temporary = temporary_in(parent.path());
  put(folder->create_file("part-0"), "before");
  fs::rename(temporary, taken);
  fs::create_directory_symlink(elsewhere, temporary);
  put(folder->create_file("part-1"), "after");
  CHECK(entries_in(elsewhere) == 0);
  CHECK(entries_in(taken) == 2);
  const Status done = folder->commit();
  REQUIRE_FALSE(done);
  CHECK(done.error().text() ==
        path + ": the temporary directory was removed or replaced; nothing was written");
  CHECK(entries_in(elsewhere) == 0);
  CHECK(entries_in(taken) == 0);
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("a signal removes the files of a folder, not those of one that was put in its place") {
  const TemporaryFolder parent;
  const std::string precious = parent / "precious", taken = parent / "taken";
  fs::create_directory(precious);
  put(precious + "/part-0", "precious");
  auto folder = AtomicFolder::create(parent / "out", false, is_part);
  REQUIRE(folder);
  const std::string temporary = temporary_in(parent.path());
  put(folder->create_file("part-0"), "new");
  fs::rename(temporary, taken);
  fs::rename(precious, temporary);
  discard_unfinished_files();
  CHECK(content(temporary + "/part-0") == "precious");
  CHECK(content(taken + "/part-0") == "new");
}

TEST_CASE("a signal after a folder got its name leaves it whole") {
  const TemporaryFolder parent;
  const std::string path = parent / "out";
  for (const bool force : {false, true}) {
    auto folder = begin_one(path, "new", force);
    REQUIRE(folder);
    fs::rename(temporary_in(parent.path()),
               parent / "renamed");  // as commit does it, up to where the signal comes
    discard_unfinished_files();
    CHECK(content(parent / "renamed/part-0") == "new");
    fs::remove_all(parent / "renamed");
  }
}
