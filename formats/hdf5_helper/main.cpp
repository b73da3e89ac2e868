// sptile-hdf5: helper process that calls HDF5 for sptile and libsptile-tools. Not for users: it communicates
// through a socket, its standard input, about the file open as descriptor 3. On damaged files HDF5 may crash
// or loop forever, and it may exit if memory is short: only this process then ends.
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>

#include "formats/hdf5_helper/serve.hpp"
#include "formats/io/files/available_memory.hpp"
#include "formats/io/hdf5/hdf5_message.hpp"

namespace sptile::formats {
namespace {

constexpr int kSocket = STDIN_FILENO, kFile = 3;
constexpr std::int64_t kUsual = 64 << 20;  // memory for HDF5's own data about a file, in bytes
constexpr int kTickMicroseconds = 50000;

// Read by the signal handler.
char too_long[256];  // message
std::size_t too_long_bytes = 0;
volatile sig_atomic_t working = 0;
volatile double max_seconds = 0;

double used_seconds() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

// Ends the process if the socket is closed or HDF5 has exceeded its time limit.
void on_tick(int) {
  const int errnum = errno;
  pollfd socket{kSocket, POLLRDHUP, 0};
  if (::poll(&socket, 1, 0) > 0 && (socket.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) ::_exit(0);
  if (working != 0 && used_seconds() > max_seconds) {
    [[maybe_unused]] const auto sent = ::send(kSocket, too_long, too_long_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    ::_exit(0);
  }
  errno = errnum;
}

void prepare_complaint() {
  const std::string bytes =
      fields_of({Errc::bad_input, "HDF5 does not terminate on this file: it is damaged; copy it again", ""})
          .bytes();
  const Hdf5Head head{static_cast<std::uint32_t>(Hdf5Answer::failed),
                      static_cast<std::uint32_t>(bytes.size())};
  too_long_bytes = std::min(sizeof head + bytes.size(), sizeof too_long);
  std::memcpy(too_long, &head, sizeof head);
  std::memcpy(too_long + sizeof head, bytes.data(), too_long_bytes - sizeof head);
}

void start_ticking() {
  prepare_complaint();
  struct sigaction action {};
  action.sa_handler = on_tick;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGALRM, &action, nullptr);
  const itimerval interval{{0, kTickMicroseconds}, {0, kTickMicroseconds}};
  ::setitimer(ITIMER_REAL, &interval, nullptr);
}

void limit_softly(__rlimit_resource resource, rlim_t value) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return;
  limit.rlim_cur = std::min(value, limit.rlim_max);
  ::setrlimit(resource, &limit);
}

std::int64_t address_space() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

/// Limits on time and memory, sufficient for HDF5 with a valid file.
class ProcessLimits : public Hdf5Surroundings {
 public:
  // Allocates the memory at once, to be kept by the C library: HDF5 allocates in small steps and crashes if
  // an allocation fails.
  Status reserve(std::int64_t bytes) override {
    limit_softly(RLIMIT_AS, RLIM_INFINITY);
    const std::int64_t needed = kUsual + bytes;
    Status s = check_memory("HDF5's tables", needed, available_memory());
    void* const kept = s ? std::malloc(static_cast<std::size_t>(needed)) : nullptr;
    if (s && kept == nullptr) s = fail(Errc::io, "HDF5 is out of memory");
    std::free(kept);
    if (const std::int64_t used = address_space(); used > 0)
      limit_softly(RLIMIT_AS, static_cast<rlim_t>(used + needed));
    return s;
  }

  void begin_work(double seconds) override {
    const double max = used_seconds() + seconds;
    max_seconds = max;
    limit_softly(RLIMIT_CPU, static_cast<rlim_t>(std::ceil(max)) + 1);  // in case the timer fails
    working = 1;
  }

  void end_work() override { working = 0; }
};

void close_others() {
#ifdef SYS_close_range
  ::syscall(SYS_close_range, kFile + 1, ~0U, 0);
#endif
}

bool is_socket(int fd) {
  int type = 0;
  socklen_t length = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0;
}

}  // namespace
}  // namespace sptile::formats

int main() {
  using namespace sptile::formats;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!is_socket(kSocket)) {
    std::fputs("sptile-hdf5 reads and writes HDF5 files; sptile starts it\n", stderr);
    return 2;
  }
  constexpr rlimit kNone{0, 0};
  ::setrlimit(RLIMIT_CORE, &kNone);
  close_others();
  // Uses a single heap that keeps freed memory.
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, -1);
  start_ticking();
  ProcessLimits limits;
  serve_hdf5(kSocket, ::fcntl(kFile, F_GETFD) < 0 ? -1 : kFile, limits);
  ::_exit(0);
}
