// Children of a process whose threads are inside the library when it forks.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "sptile_tools.h"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SPTILE_ADDRESS_SANITIZER
#endif
#endif

using sptile::TemporaryFolder;

namespace {

constexpr unsigned kSeconds = 60;  // after which a child hangs

/// A random matrix that keeps oneTBB busy.
void write_matrix(const std::string& path, int rows, int entries) {
  std::mt19937 random(1);
  std::ofstream out(path);
  out << "%%MatrixMarket matrix coordinate real general\n" << rows << ' ' << rows << ' ' << entries << '\n';
  for (int i = 0; i < entries; ++i)
    out << 1 + random() % static_cast<unsigned>(rows) << ' ' << 1 + random() % static_cast<unsigned>(rows)
        << " 1.5\n";
}

sptile_tools_matrix* read(const std::string& path) {
  sptile_tools_matrix* matrix = nullptr;
  sptile_tools_read(path.c_str(), nullptr, &matrix);
  return matrix;
}

/// To a file in memory, with all formats; true when it worked.
bool convert(const sptile_tools_matrix* matrix, const char* method) {
  sptile_tools_options options = SPTILE_TOOLS_OPTIONS_INIT;
  options.method = method;
  const int fd = ::memfd_create("a.h5", MFD_CLOEXEC);
  const bool done = sptile_tools_convert(matrix, nullptr, fd, &options, nullptr) == SPTILE_STATUS_OK;
  ::close(fd);
  return done;
}

bool read_and_convert(const std::string& path) {
  sptile_tools_matrix* const matrix = read(path);
  const bool done = matrix != nullptr && convert(matrix, "degree");
  sptile_tools_matrix_destroy(matrix);
  return done;
}

}  // namespace

TEST_CASE("a child reads and converts while threads of its parent do at the fork") {
#ifdef SPTILE_ADDRESS_SANITIZER
  return sptile::skip(
      "a fork beside threads: clang 14 leaves the locks of the sanitizer's allocator to the child");
#endif
  const TemporaryFolder folder;
  write_matrix(folder / "large.mtx", 2000, 40000);
  write_matrix(folder / "small.mtx", 60, 300);
  sptile_tools_matrix* const small = read(folder / "small.mtx");
  REQUIRE(small != nullptr);
  const std::string bundle = folder / "small.h5";
  REQUIRE(sptile_tools_convert(small, bundle.c_str(), -1, nullptr, nullptr) == SPTILE_STATUS_OK);
  sptile_tools_matrix_destroy(small);
  std::atomic<bool> stop = false, failed = false;
  std::vector<std::thread> threads;
  for (const char* name : {"large.mtx", "small.mtx", "large.mtx"})
    threads.emplace_back([&, path = folder / name] {
      while (!stop) failed = !read_and_convert(path) || failed;
    });
  int good = 0;
  constexpr int kForks = 40;
  for (int i = 0; i < kForks; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(kSeconds);
      ::_exit(read_and_convert(folder / "small.mtx") ? 0 : 1);
    }
    int status = 0;
    good += ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : 0;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(good == kForks);
  CHECK(!failed);
}
