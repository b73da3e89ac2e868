#include "formats/io/files/file_writes.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace sptile::formats {
namespace {

/// Blocks SIGXFSZ in this thread, which is the one that receives it, and discards a pending one.
class HoldLimitSignal {
 public:
  HoldLimitSignal() noexcept {
    ::sigemptyset(&limit_);
    ::sigaddset(&limit_, SIGXFSZ);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGXFSZ) == 1;
    ::pthread_sigmask(SIG_BLOCK, &limit_, &before_);
  }
  ~HoldLimitSignal() {
    const timespec at_once{};
    while (!was_pending_ && ::sigtimedwait(&limit_, nullptr, &at_once) < 0 && errno == EINTR) continue;
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  HoldLimitSignal(const HoldLimitSignal&) = delete;
  HoldLimitSignal& operator=(const HoldLimitSignal&) = delete;

 private:
  sigset_t limit_, before_;
  bool was_pending_ = false;
};

/// Calls put(done), which works like write for the bytes from `done` on, until all bytes are written.
template <typename Write>
int write_fully(std::size_t bytes, Write write_from) noexcept {
  const HoldLimitSignal hold;
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t count = write_from(done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : ENOSPC;
    done += static_cast<std::size_t>(count);
  }
  return 0;
}

}  // namespace

int write_all(int fd, const void* data, std::size_t bytes) noexcept {
  const auto* from = static_cast<const std::byte*>(data);
  return write_fully(bytes, [&](std::size_t done) { return ::write(fd, from + done, bytes - done); });
}

int write_all_at(int fd, std::uint64_t offset, const void* data, std::size_t bytes) noexcept {
  const auto* from = static_cast<const std::byte*>(data);
  return write_fully(bytes, [&](std::size_t done) {
    return ::pwrite(fd, from + done, bytes - done, static_cast<off_t>(offset + done));
  });
}

int resize_file(int fd, std::uint64_t bytes) noexcept {
  const HoldLimitSignal hold;
  return ::ftruncate(fd, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
}

}  // namespace sptile::formats
