#include "formats/io/stream/input_bytes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "formats/io/files/system_error.hpp"

namespace sptile::formats {

Result<InputBytes> InputBytes::open(const std::string& path, const Progress* progress) {
  InputBytes input;
  input.progress_ = progress;
  const bool is_stdin = path == "-";
  input.name_ = is_stdin ? "<stdin>" : path;
  input.fd_ = is_stdin ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (input.fd_ < 0) return system_failure(errno, "cannot open", input.name_);
  struct stat status {};
  if (::fstat(input.fd_, &status) != 0) return system_failure(errno, "cannot examine", input.name_);
  if (S_ISDIR(status.st_mode)) return fail(Errc::io, "is a directory; expected a file", input.name_);
  if (S_ISREG(status.st_mode)) {
    const off_t start = ::lseek(input.fd_, 0, SEEK_CUR);  // nonzero for `tool < file` after an earlier reader
    input.size_ = std::max<std::int64_t>(0, status.st_size - std::max<off_t>(0, start));
    if (!is_stdin) input.offset_ = 0;
  }
  return input;
}

Result<InputBytes> InputBytes::from_file(int fd, std::string name) {
  InputBytes input;
  input.fd_ = fd;
  input.name_ = std::move(name);
  struct stat status {};
  if (::fstat(fd, &status) != 0) return system_failure(errno, "cannot examine", input.name_);
  input.size_ = status.st_size;
  input.offset_ = 0;
  return input;
}

InputBytes InputBytes::from_memory(std::string_view bytes, std::string name) {
  InputBytes input;
  input.name_ = std::move(name);
  input.memory_ = bytes;
  input.size_ = static_cast<std::int64_t>(bytes.size());
  return input;
}

InputBytes::InputBytes(InputBytes&& other) noexcept
    : name_(std::move(other.name_)),
      fd_(std::exchange(other.fd_, -1)),
      progress_(other.progress_),
      memory_(other.memory_),
      ahead_(std::move(other.ahead_)),
      size_(other.size_),
      offset_(other.offset_),
      position_(other.position_),
      hash_(std::move(other.hash_)) {}

InputBytes::~InputBytes() {
  if (fd_ >= 0) ::close(fd_);
}

Result<InputBytes> InputBytes::again() const {
  if (!is_file()) return fail(Errc::usage, "can be read only once", name_);
  InputBytes input;
  input.name_ = name_;
  input.progress_ = progress_;
  input.fd_ = ::fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (input.fd_ < 0) return system_failure(errno, "cannot open again", name_);
  input.size_ = size_;
  input.offset_ = 0;
  return input;
}

int InputBytes::release() { return std::exchange(fd_, -1); }

// Waits until a pipe or a terminal has bytes or has ended. A named pipe without a writer so far has not
// ended.
Status InputBytes::wait_for_bytes() const {
  if (size_) return {};               // regular files are always ready
  constexpr int kBetweenLooks = 100;  // milliseconds
  pollfd waited{fd_, POLLIN, 0};
  for (;;) {
    if (cancelled(progress_)) return fail(Errc::io, "cancelled", name_);
    const int ready = ::poll(&waited, 1, progress_ == nullptr ? -1 : kBetweenLooks);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return system_failure(errno, "cannot read", name_);
  }
}

Result<std::int64_t> InputBytes::read_some(std::span<char> out) {
  if (fd_ < 0) {
    const std::size_t count = std::min(out.size(), memory_.size());
    std::copy_n(memory_.data(), count, out.data());
    memory_.remove_prefix(count);
    return static_cast<std::int64_t>(count);
  }
  ssize_t count = 0;
  do {
    if (Status ready = wait_for_bytes(); !ready) return tl::unexpected(ready.error());
    count = offset_ ? ::pread(fd_, out.data(), out.size(), *offset_) : ::read(fd_, out.data(), out.size());
  } while (count < 0 && (errno == EINTR || errno == EAGAIN));
  if (count < 0) return system_failure(errno, "cannot read", name_);
  if (offset_) *offset_ += count;
  return count;
}

Result<std::string_view> InputBytes::look(std::size_t max) {
  while (ahead_.size() < max) {
    const std::size_t had = ahead_.size();
    ahead_.resize(max);
    const Result<std::int64_t> count = read_some(std::span(ahead_).subspan(had));
    ahead_.resize(had + (count ? static_cast<std::size_t>(*count) : 0));
    if (!count) return tl::unexpected(count.error());
    if (*count == 0) break;
  }
  return std::string_view(ahead_).substr(0, max);
}

Result<std::int64_t> InputBytes::read(std::span<char> out) {
  std::size_t filled = std::min(out.size(), ahead_.size());
  std::copy_n(ahead_.data(), filled, out.data());
  ahead_.erase(0, filled);
  while (filled < out.size()) {
    const Result<std::int64_t> count = read_some(out.subspan(filled));
    if (!count) return count;
    if (*count == 0) break;
    filled += static_cast<std::size_t>(*count);
  }
  if (hash_) hash_->update(out.data(), filled);
  position_ += static_cast<std::int64_t>(filled);
  return static_cast<std::int64_t>(filled);
}

}  // namespace sptile::formats
