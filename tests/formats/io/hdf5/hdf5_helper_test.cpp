#include "formats/io/hdf5/hdf5_helper.hpp"

#include <dirent.h>
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "formats/io/hdf5/hdf5_matrix.hpp"
#include "tests/formats/io/binsparse_file.hpp"

using namespace sptile;
using namespace sptile::formats;

namespace {

const BinsparseFile kFile = {
    R"({"binsparse":{"version":"0.1","format":"CSR","shape":[3,4],"data_types":{"values":"float32"}}})",
    {BinsparseArray::of("pointers_to_1", std::vector<std::int64_t>{0, 2, 2, 4}),
     BinsparseArray::of("indices_1", std::vector<std::int32_t>{0, 3, 1, 2}),
     BinsparseArray::of("values", std::vector<float>{2, 1, 3, 4})}};

/// The processes that `parent` started and that are called sptile-hdf5.
std::vector<pid_t> helpers_of(pid_t parent) {
  std::vector<pid_t> found;
  DIR* const folder = ::opendir("/proc");
  while (const dirent* entry = ::readdir(folder)) {
    const auto pid = static_cast<pid_t>(std::atoi(entry->d_name));
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state, of;
    if (pid > 0 && stat >> number >> name >> state >> of && name == "(sptile-hdf5)" && state != "Z" &&
        of == std::to_string(parent))
      found.push_back(pid);
  }
  ::closedir(folder);
  return found;
}

bool soon(const std::function<bool()>& holds) {
  for (int i = 0; i < 1000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// Ignores SIGCHLD while it lives.
struct NoChildSignals {
  NoChildSignals() : before(::signal(SIGCHLD, SIG_IGN)) {}
  ~NoChildSignals() { ::signal(SIGCHLD, before); }
  sighandler_t before;
};

struct OpenFile {
  int fd = ::memfd_create("a.bsp.h5", MFD_CLOEXEC);
  OpenFile() { REQUIRE(kFile.write(fd)); }
  ~OpenFile() { ::close(fd); }
};

}  // namespace

TEST_CASE("a helper says which HDF5 it has, and ends with its owner") {
  const OpenFile file;
  {
    const auto helper = Hdf5Helper::start(file.fd, Errc::bad_input);
    REQUIRE(helper);
    CHECK(helper->version().starts_with("1."));
    CHECK(helpers_of(::getpid()).size() == 1);
  }
  CHECK(helpers_of(::getpid()).empty());
}

TEST_CASE("a helper that dies is an error, also where nobody learns of its death") {
  const OpenFile file;
  for (const bool ignored : {false, true}) {
    CAPTURE(ignored);
    const auto none = ignored ? std::make_unique<NoChildSignals>() : nullptr;
    auto helper = Hdf5Helper::start(file.fd, Errc::bad_input);
    REQUIRE(helper);
    for (const pid_t pid : helpers_of(::getpid())) ::kill(pid, SIGKILL);
    CHECK(helper->ask(Hdf5Op::names).error().code == Errc::bad_input);
    CHECK(helper->ask(Hdf5Op::names).error().code == Errc::bad_input);
    *helper = std::move(*Hdf5Helper::start(file.fd, Errc::io));
    for (const pid_t pid : helpers_of(::getpid())) ::kill(pid, SIGKILL);
    CHECK(helper->ask(Hdf5Op::hello).error().code == Errc::io);
    CHECK(read_hdf5_matrix(Hdf5Reader::open(file.fd, "a"), "a", false));
  }
}

TEST_CASE("its death is noticed while another process has the helper's end of the socket") {
  const OpenFile file;
  auto helper = Hdf5Helper::start(file.fd, Errc::bad_input);
  REQUIRE(helper);
  const std::vector<pid_t> started = helpers_of(::getpid());
  REQUIRE(started.size() == 1);
  // A copy of the helper's standard input, as a process has it that was forked in the wrong moment.
  const long pidfd = ::syscall(SYS_pidfd_open, started[0], 0);
  const long copy = pidfd < 0 ? -1 : ::syscall(SYS_pidfd_getfd, pidfd, 0, 0);
  if (copy < 0) {
    MESSAGE("skipped: descriptors of a child cannot be had here");
    return;
  }
  ::kill(started[0], SIGKILL);
  CHECK(helper->ask(Hdf5Op::names).error().code == Errc::bad_input);
  ::close(static_cast<int>(copy)), ::close(static_cast<int>(pidfd));
}

TEST_CASE("a helper that does not answer can be cancelled, and is gone then") {
  const OpenFile file;
  Progress progress;
  auto helper = Hdf5Helper::start(file.fd, Errc::bad_input, &progress);
  REQUIRE(helper);
  for (const pid_t pid : helpers_of(::getpid())) ::kill(pid, SIGSTOP);
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    progress.cancelled = true;
  });
  CHECK(helper->ask(Hdf5Op::names).error().message == "cancelled");
  canceller.join();
  { const Hdf5Helper gone = std::move(*helper); }
  CHECK(helpers_of(::getpid()).empty());
}

TEST_CASE("a process that is killed leaves no helper") {
  const OpenFile file;
  const pid_t child = ::fork();
  if (child == 0) {
    const auto helper = Hdf5Helper::start(file.fd, Errc::bad_input);
    for (;;) ::pause();
  }
  std::vector<pid_t> started;
  CHECK(soon([&] { return !(started = helpers_of(child)).empty(); }));
  ::kill(child, SIGKILL);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  for (const pid_t pid : started)
    CHECK(soon([&] { return !std::ifstream("/proc/" + std::to_string(pid) + "/stat"); }));
}

TEST_CASE("eight threads read at once") {
  const OpenFile file;
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 5; ++k)
        good += read_hdf5_matrix(Hdf5Reader::open(file.fd, "a"), "a", false) ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 40);
}

TEST_CASE("a pipe is not read as HDF5") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  CHECK(Hdf5Reader::open(ends[0], "pipe").error().text() == "pipe: is not a file");
  ::close(ends[0]), ::close(ends[1]);
}
