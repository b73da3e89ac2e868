// What is left when writing a bundle is stopped: by SIGKILL after any system call, by a full disk, by a
// limit. And what happens when somebody puts a link in the place of the temporary.
#include <doctest/doctest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>

#include "runtime/bundle/bundle.hpp"
#include "tests/bundle_sample.hpp"
#include "tests/file_contents.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
namespace fs = std::filesystem;

namespace {

constexpr int kNotPermitted = 99;  // exit code of a child that may not do what its test needs
const BundleSample kOld(DType::f64, DType::f64), kNew(DType::f32, DType::f16);

/// System calls after which the folder or a file in it may look different.
constexpr long kChangingCalls[] = {SYS_openat,
                                   SYS_write,
                                   SYS_pwrite64,
                                   SYS_pwritev,
                                   SYS_ftruncate,
                                   SYS_fsync,
                                   SYS_fdatasync,
                                   SYS_fchmod,
                                   SYS_linkat,
                                   SYS_unlinkat,
                                   SYS_close,
                                   SYS_fallocate,
                                   SYS_renameat,
                                   SYS_renameat2
#ifdef SYS_rename  // newer architectures have only the ...at forms
                                   ,
                                   SYS_rename,
                                   SYS_chmod,
                                   SYS_link,
                                   SYS_unlink,
                                   SYS_open
#endif
};

int wait_for(pid_t child) {
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

int in_child(const std::function<int()>& work) {
  std::cout.flush();  // or each child would print it again
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) std::exit(work());  // with atexit handlers: HDF5 must not mind what happened
  return wait_for(child);
}

[[noreturn]] void write_traced(const std::string& path) {
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(kNotPermitted);
  ::raise(SIGSTOP);
  const auto size = kNew.write(path, {.force = true});
  ::_exit(size ? 0 : 1);
}

/// True at the end of a system call that may have changed something.
bool stands_after_change(pid_t child, long& call) {
  __ptrace_syscall_info info{};
  if (::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) < 0) return false;
  if (info.op == PTRACE_SYSCALL_INFO_ENTRY) call = static_cast<long>(info.entry.nr);
  return info.op == PTRACE_SYSCALL_INFO_EXIT &&
         std::find(std::begin(kChangingCalls), std::end(kChangingCalls), call) != std::end(kChangingCalls);
}

enum class End { interrupted, finished, not_permitted };

/// Writes kNew to `path` in a child and does something to it after its k-th changing system call.
End write_and_interrupt(const std::string& path, int k, const std::function<void(pid_t)>& interrupt) {
  std::cout.flush();  // or each child would print it again
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) write_traced(path);
  int status = wait_for(child);
  if (WIFEXITED(status)) return End::not_permitted;
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  long call = -1;
  while (k > 0) {
    if (::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) != 0) return End::not_permitted;
    status = wait_for(child);
    if (WIFEXITED(status)) {
      CHECK(WEXITSTATUS(status) == 0);
      return End::finished;
    }
    if (stands_after_change(child, call)) --k;
  }
  interrupt(child);
  wait_for(child);
  return End::interrupted;
}

std::vector<std::byte> bytes_or_nothing(const std::string& path) {
  return fs::exists(path) ? bytes_of(path) : std::vector<std::byte>();
}

/// Kills the writer after each of its changing system calls in turn; returns how many there were.
int kill_everywhere(const std::function<void(const std::string&)>& prepare) {
  const TemporaryFolder folder, reference;
  REQUIRE(kNew.write(reference / "new.h5"));
  const auto after = bytes_of(reference / "new.h5");
  const std::string path = folder / "a.h5";
  bool replaced = false;
  for (int k = 1;; ++k) {
    CAPTURE(k);
    fs::remove(path);
    prepare(path);
    const auto before = bytes_or_nothing(path);
    const End end = write_and_interrupt(path, k, [](pid_t child) { ::kill(child, SIGKILL); });
    if (end == End::not_permitted) return 0;
    const auto now = bytes_or_nothing(path);
    if (!replaced) replaced = now != before;  // once the new file is there, killing later cannot take it back
    CHECK((now == (replaced ? after : before)));
    CHECK(files_in(folder.path()) <= 2);
    REQUIRE(kNew.write(path, {.force = true}));  // the next run tidies up
    CHECK(files_in(folder.path()) == 1);
    CHECK(bytes_of(path) == after);
    if (end == End::finished) return k;
  }
}

/// Puts links to `victim` in the place of all temporaries in the folder; false when there were none.
bool replace_temporaries(const fs::path& folder, const std::string& victim) {
  bool replaced = false;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".tmp") continue;
    fs::remove(entry.path());
    fs::create_symlink(victim, entry.path());
    replaced = true;
  }
  return replaced;
}

/// Runs the writer where there is not enough room; 0 when it fails as it should.
int write_without_room(const std::string& path, const std::string& reason) {
  const auto size = kNew.write(path, {.force = true});
  if (size) return 1;
  if (size.error().code != Errc::io) return 2;
  if (size.error().message.find(reason) == std::string::npos) return 3;
  if (size.error().where != path) return 4;
  // The library must still work for the next file.
  const TemporaryFolder folder;
  return kNew.write(folder / "next.h5", {.user_block = 4096}) || reason == "File too large" ? 0 : 5;
}

}  // namespace

TEST_CASE("killed after any system call, the writer leaves the whole old file or the whole new one") {
  const int calls = kill_everywhere([](const std::string& path) { REQUIRE(kOld.write(path)); });
  if (calls == 0) return skip("permission to trace a child");
  CHECK(calls > 20);
}

TEST_CASE("killed after any system call, the writer leaves no file or the whole new one") {
  const int calls = kill_everywhere([](const std::string&) {});
  if (calls == 0) skip("permission to trace a child");
}

TEST_CASE("a link put in the place of the temporary is neither written through nor published") {
  const TemporaryFolder folder, elsewhere;
  const std::string path = folder / "a.h5", victim = elsewhere / "victim";
  std::ofstream(victim) << "precious";
  const auto victim_before = bytes_of(victim);
  int attacks = 0;
  for (int k = 1;; ++k) {
    CAPTURE(k);
    const End end = write_and_interrupt(path, k, [&](pid_t child) {
      attacks += replace_temporaries(folder.path(), victim) ? 1 : 0;
      ::ptrace(PTRACE_DETACH, child, nullptr, nullptr);
    });
    if (end == End::not_permitted) {
      MESSAGE("skipped: tracing a child is not permitted here");
      return;
    }
    CHECK(bytes_of(victim) == victim_before);
    CHECK(!fs::is_symlink(path));
    for (const auto& entry : fs::directory_iterator(folder.path())) fs::remove(entry.path());
    if (end == End::finished) break;
  }
  CHECK(attacks > 20);
}

TEST_CASE("a limit on the size of files gives a clear error, keeps the old file and leaves nothing else") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  REQUIRE(kOld.write(path));
  const auto before = bytes_of(path);
  for (rlim_t limit = 0; limit < before.size(); limit += 6000) {
    const int status = in_child([&] {
      ::signal(SIGXFSZ, SIG_DFL);  // which would kill
      const rlimit low{limit, limit};
      ::setrlimit(RLIMIT_FSIZE, &low);
      return write_without_room(path, "File too large");
    });
    CAPTURE(limit);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(bytes_of(path) == before);
    CHECK(files_in(folder.path()) == 1);
  }
}

TEST_CASE("a full disk gives a clear error, keeps the old file and leaves nothing else") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  for (int pages = 2; pages < 24; pages += 3) {
    const int status = in_child([&] {
      const std::string size = "size=" + std::to_string(pages * 4096);
      if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
          ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, size.c_str()) != 0)
        return kNotPermitted;
      std::ofstream(path) << "old";
      const int verdict = write_without_room(path, "No space left on device");
      if (verdict != 0) return verdict;
      return bytes_of(path).size() == 3 && files_in(folder.path()) == 1 ? 0 : 10;
    });
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNotPermitted)
      return skip("permission to mount a small file system");
    CAPTURE(pages);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
}

TEST_CASE("a folder without write permission gives a clear error") {
  const TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  const int status = in_child([&] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) return kNotPermitted;  // root may write everywhere
    const auto size = kNew.write(folder / "a.h5");
    return !size && size.error().code == Errc::io ? 0 : 1;
  });
  fs::permissions(folder.path(), fs::perms::owner_all);
  CHECK(WIFEXITED(status));
  CHECK((WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kNotPermitted));
  CHECK(fs::is_empty(folder.path()));
}
