#include "formats/io/files/atomic_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>

#include "tests/child_process.hpp"
#include "tests/file_contents.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;
namespace fs = std::filesystem;

namespace {

void put(const AtomicFile& file, const std::string& text) {
  REQUIRE(::write(file.fd(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

// Runs `work` as process 1 of a namespace of its own; gives back the exit code, nothing where that is not
// permitted.
std::optional<int> in_container(const std::function<void()>& work) {
  const int status = in_child([&] {
    if (::unshare(CLONE_NEWPID) != 0) ::_exit(kNotPermitted);  // for children
    ::_exit(WEXITSTATUS(in_child(work)));
  });
  if (WEXITSTATUS(status) == kNotPermitted) return std::nullopt;
  return WEXITSTATUS(status);
}

// From now on this process gets no locks, as on some network file systems.
void refuse_locks() { refuse_call(SYS_fcntl, 1, F_OFD_SETLK, ENOLCK); }

}  // namespace

TEST_CASE("a committed file appears whole, with its mode, and nothing else is left") {
  const TemporaryFolder folder;
  const std::string path = folder / "out.bin";
  auto file = AtomicFile::create(path, false);
  REQUIRE(file);
  put(*file, "hello");
  CHECK(!fs::exists(path));
  CHECK(files_in(folder.path()) == 1);
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
  std::ofstream(folder / ".out.bin.sptile-0.tmp") << "a name that we never give";
  std::ofstream(folder / ".other.sptile-0123456789abcdef.tmp") << "another target";

  auto alive = AtomicFile::create(path, false);
  REQUIRE(alive);
  CHECK(files_in(folder.path()) == 3);
  auto second = AtomicFile::create(path, false);
  REQUIRE(second);
  CHECK(files_in(folder.path()) == 4);
}

TEST_CASE("in a container, where every writer is process 1, the next writer works after a kill") {
  const TemporaryFolder folder;
  const std::string path = folder / "out.bin";
  const auto killed = in_container([&] {
    auto file = AtomicFile::create(path, false);
    ::_exit(file ? 0 : 1);  // without destructors, as a kill would; process 1 cannot kill itself
  });
  if (!killed) {
    MESSAGE("skipped: no containers here");
    return;
  }
  CHECK(*killed == 0);
  CHECK(files_in(folder.path()) == 1);
  const auto next = in_container([&] {
    auto file = AtomicFile::create(path, false);
    if (!file || files_in(folder.path()) != 1 || !file->commit()) ::_exit(1);
  });
  CHECK(*next == 0);
  CHECK(content(path).empty());
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a container that shares the folder leaves the temporaries of living writers outside alone") {
  const TemporaryFolder folder;
  const std::string path = folder / "out.bin";
  auto ours = AtomicFile::create(path, true);
  REQUIRE(ours);
  put(*ours, "ours");
  const auto theirs = in_container([&] {
    auto file = AtomicFile::create(path, true);
    if (!file) ::_exit(1);
    put(*file, "theirs");
    if (!file->commit()) ::_exit(2);
  });
  if (!theirs) {
    MESSAGE("skipped: no containers here");
    return;
  }
  CHECK(*theirs == 0);
  CHECK(content(path) == "theirs");
  REQUIRE(ours->commit());
  CHECK(content(path) == "ours");
}

TEST_CASE("without locks temporaries of others are left alone, and writing works") {
  const TemporaryFolder folder;
  const std::string path = folder / "out.bin";
  std::ofstream(folder / ".out.bin.sptile-0123456789abcdef.tmp") << "perhaps somebody's";
  const int status = in_child([&] {
    refuse_locks();
    auto file = AtomicFile::create(path, false);
    if (!file || files_in(folder.path()) != 2 || !file->commit()) ::_exit(1);
  });
  if (WEXITSTATUS(status) == kNotPermitted) {
    MESSAGE("skipped: system calls cannot be refused here");
    return;
  }
  CHECK(status == 0);
  CHECK(fs::exists(path));
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("names as long as the system takes them can be written, longer ones are refused at once") {
  const TemporaryFolder folder;
  for (const std::string letter : {"n", "\u00e9", "\u20ac"}) {  // of one, two and three bytes
    std::string name;
    while (name.size() + letter.size() <= NAME_MAX) name += letter;
    auto file = AtomicFile::create(folder / name, false);
    REQUIRE_MESSAGE(file, file.error().text());
    const auto shown = fs::directory_iterator(folder.path())->path().filename().string();
    CHECK(shown.find(letter + ".sptile-") != std::string::npos);  // no half letter
    REQUIRE(file->commit());
    CHECK(fs::remove(folder / name));
    CHECK(AtomicFile::create(folder / (name + letter), false).error().code == Errc::io);
  }
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("a temporary that somebody replaced is never published") {
  const TemporaryFolder folder;
  const std::string path = folder / "out.bin";
  auto file = AtomicFile::create(path, false);
  REQUIRE(file);
  const fs::path temporary = fs::directory_iterator(folder.path())->path();
  fs::remove(temporary);
  std::ofstream(temporary) << "not ours";
  const Status done = file->commit();
  REQUIRE(!done);
  CHECK(done.error().code == Errc::io);
  CHECK(done.error().text() == path + ": the temporary file was removed or replaced; nothing was written");
  CHECK(!fs::exists(path));
  CHECK(content(temporary) == "not ours");
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

TEST_CASE("a file that somebody else has open is written where it is") {
  const TemporaryFolder folder;
  const std::string path = folder / "out.bin";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(fd >= 0);
  {
    auto file = AtomicFile::borrow(fd, "mine");
    REQUIRE(file);
    put(*file, "hello");
    REQUIRE(file->commit());
  }
  CHECK(content(path) == "hello");
  CHECK(files_in(folder.path()) == 1);
  CHECK((fs::status(path).permissions() & fs::perms::mask) == static_cast<fs::perms>(0600));
  CHECK(AtomicFile::borrow(fd, "mine").error().code == Errc::usage);  // it is not empty
  ::close(fd);
  CHECK(AtomicFile::borrow(fd, "mine").error().code == Errc::io);
  const int read_only = ::open((folder / "other").c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
  CHECK(AtomicFile::borrow(read_only, "mine").error().code == Errc::usage);
  ::close(read_only);
  CHECK(AtomicFile::borrow(-1, "mine").error().code == Errc::io);
}

TEST_CASE("a file is begun in a folder that is open, wherever that is by now") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "made");
  fs::create_directory(folder / "others");
  const int fd = ::open((folder / "made").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(fd >= 0);
  fs::rename(folder / "made", folder / "moved");
  fs::create_directory_symlink(folder / "others", folder / "made");
  auto file = AtomicFile::create_in(fd, "out.bin", folder / "made/out.bin");
  REQUIRE(file);
  put(*file, "hello");
  REQUIRE(file->commit());
  CHECK(content(folder / "moved/out.bin") == "hello");
  CHECK(files_in(folder / "others") == 0);
  auto second = AtomicFile::create_in(fd, "out.bin", "shown");
  REQUIRE(second);
  CHECK(second->commit().error().text() == "shown: file exists; --force replaces it");
  ::close(fd);
  CHECK(AtomicFile::create_in(fd, "out.bin", "shown").error().code == Errc::io);
}

TEST_CASE("only the file that is open is replaced") {
  const TemporaryFolder folder;
  const std::string path = folder / "out.bin";
  std::ofstream(path) << "first";
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(fd >= 0);
  auto file = AtomicFile::replace(fd, path);
  REQUIRE(file);
  put(*file, "from first");
  fs::rename(path, folder / "kept");
  std::ofstream(path) << "second";
  const Status late = file->commit();
  REQUIRE(!late);
  CHECK(late.error().text() == path + ": was replaced while it was open; nothing was written; try again");
  CHECK(content(path) == "second");
  CHECK(AtomicFile::replace(fd, path).error().text() == late.error().text());
  fs::rename(folder / "kept", path);
  auto again = AtomicFile::replace(fd, path);
  REQUIRE(again);
  put(*again, "from first");
  REQUIRE(again->commit());
  CHECK(content(path) == "from first");
  CHECK(files_in(folder.path()) == 1);
  ::close(fd);
}
