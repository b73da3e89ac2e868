#include "formats/io/files/output_group.hpp"

#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "formats/io/files/atomic_file.hpp"
#include "tests/child_process.hpp"
#include "tests/file_contents.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;
namespace fs = std::filesystem;

namespace {

/// Commits a file to the group.
bool give(OutputGroup& group, const std::string& path, bool force, const std::string& text) {
  auto file = AtomicFile::create(path, {force, &group});
  return file && file->write(text) && file->commit(0444);
}

/// A folder with one of the outputs in it.
void put_old(const fs::path& folder, const std::string& text) {
  fs::create_directory(folder);
  std::ofstream(folder / "out") << text;
}

/// Two outputs, in a folder each, of which the second cannot be renamed; `prepare` refuses what else is
/// refused. What there was before is there again.
void check_failed_rename(bool first_is_new, const std::function<void()>& prepare) {
  const TemporaryFolder folder;
  const fs::path one = folder.path() / "one", two = folder.path() / "two";
  put_old(one, "old one");
  put_old(two, "old two");
  if (first_is_new) fs::remove(one / "out");
  const int status = in_child([&] {
    OutputGroup group;
    if (!give(group, one / "out", true, "new one")) ::_exit(2);
    const int next = ::dup(STDERR_FILENO);  // what the folder of the second output will be open as
    ::close(next);
    if (!give(group, two / "out", true, "new two")) ::_exit(2);
    prepare();
    const auto refused = static_cast<std::uint32_t>(next);
    refuse_call(SYS_renameat, 0, refused, ENOSPC);
    refuse_call(SYS_renameat2, 0, refused, ENOSPC);
    const Status done = group.commit();
    ::_exit(!done &&
                    done.error().text() == (two / "out").string() + ": cannot rename: No space left on device"
                ? 0
                : 1);
  });
  if (WEXITSTATUS(status) == kNotPermitted) {
    MESSAGE("skipped: system calls cannot be refused here");
    return;
  }
  CHECK(status == 0);
  if (first_is_new)
    CHECK(files_in(one) == 0);
  else
    CHECK(content(one / "out") == "old one");
  CHECK(content(two / "out") == "old two");
  CHECK(files_in(one) + files_in(two) == (first_is_new ? 1 : 2));
}

}  // namespace

TEST_CASE("outputs of a group appear when it is committed, in place of what was there") {
  const TemporaryFolder folder;
  std::ofstream(folder / "b") << "old";
  OutputGroup group;
  REQUIRE(give(group, folder / "a", false, "new a"));
  REQUIRE(give(group, folder / "b", true, "new b"));
  CHECK_FALSE(fs::exists(folder / "a"));
  CHECK(content(folder / "b") == "old");
  REQUIRE(group.commit());
  CHECK(content(folder / "a") == "new a");
  CHECK(content(folder / "b") == "new b");
  CHECK((fs::status(folder / "b").permissions() & fs::perms::mask) == static_cast<fs::perms>(0444));
  CHECK(files_in(folder.path()) == 2);
  CHECK(group.commit());  // nothing is left to do
}

TEST_CASE("a group that is not committed leaves nothing") {
  const TemporaryFolder folder;
  {
    OutputGroup group;
    REQUIRE(give(group, folder / "a", false, "a"));
  }
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("an output that cannot have its name takes the others back") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a") << "old a";
  OutputGroup group;
  REQUIRE(give(group, folder / "a", true, "new a"));
  REQUIRE(give(group, folder / "b", false, "new b"));
  REQUIRE(give(group, folder / "c", false, "new c"));
  std::ofstream(folder / "c") << "somebody was faster";
  const Status done = group.commit();
  REQUIRE_FALSE(done);
  CHECK(done.error().code == Errc::usage);
  CHECK(done.error().text() == folder / "c" + ": file exists; --force replaces it");
  CHECK(content(folder / "a") == "old a");
  CHECK_FALSE(fs::exists(folder / "b"));
  CHECK(content(folder / "c") == "somebody was faster");
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("a second rename that fails leaves the old pair") {
  check_failed_rename(false, [] {});
  check_failed_rename(true, [] {});
}

TEST_CASE("so it does where the file system cannot exchange names") {
  constexpr std::uint32_t kExchange = 2;  // RENAME_EXCHANGE
  check_failed_rename(false, [] { refuse_call(SYS_renameat2, 4, kExchange, EINVAL); });
}
