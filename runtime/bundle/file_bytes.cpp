#include "runtime/bundle/file_bytes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace sptile::runtime {
namespace {

std::string because() { return ": " + std::string(std::strerror(errno)); }

/// Reads exactly `bytes` bytes. Fails if the file was truncated after it was opened.
Status read_exactly(int fd, std::uint64_t offset, std::byte* to, std::uint64_t bytes) {
  while (bytes > 0) {
    const ssize_t got = ::pread(fd, to, static_cast<std::size_t>(std::min<std::uint64_t>(bytes, 1u << 30)),
                                static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(Errc::io, "cannot be read" + because());
    if (got == 0)
      return fail(Errc::io, "was truncated while it was read; try again when its writer has finished");
    const auto step = static_cast<std::uint64_t>(got);
    offset += step, to += step, bytes -= step;
  }
  return {};
}

}  // namespace

Result<FileBytes> FileBytes::open(const std::string& path) {
  // Without O_NONBLOCK, opening a named pipe would block forever.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return fail(Errc::io, "cannot be opened" + because());
  return take(fd);
}

Result<FileBytes> FileBytes::take(int fd) {
  FileBytes file;
  file.fd_ = fd;
  struct stat facts {};
  if (::fstat(file.fd_, &facts) != 0) return fail(Errc::io, "cannot be examined" + because());
  if (S_ISDIR(facts.st_mode)) return fail(Errc::bad_input, "is a directory; expected a bundle");
  if (!S_ISREG(facts.st_mode))
    return fail(Errc::bad_input,
                "is not a regular file; a bundle is mapped and cannot come from a pipe or device");
  file.size_ = static_cast<std::uint64_t>(facts.st_size);
  return file;
}

FileBytes FileBytes::borrow(std::span<const std::byte> memory) {
  FileBytes file;
  file.size_ = memory.size();
  file.data_ = memory.data();
  return file;
}

FileBytes::FileBytes(FileBytes&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      size_(other.size_),
      data_(std::exchange(other.data_, nullptr)),
      owned_(std::exchange(other.owned_, false)),
      keep_open_(other.keep_open_) {}

FileBytes& FileBytes::operator=(FileBytes&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  std::swap(data_, other.data_);
  std::swap(owned_, other.owned_);
  std::swap(keep_open_, other.keep_open_);
  return *this;
}

FileBytes::~FileBytes() {
  close_file();
  if (owned_) ::munmap(const_cast<std::byte*>(data_), size_);
}

void FileBytes::close_file() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void FileBytes::done_with_file() {
  if (!keep_open_) close_file();
}

Status FileBytes::read(std::uint64_t offset, std::span<std::byte> to) const {
  if (offset > size_ || to.size() > size_ - offset)
    return fail(Errc::io, "is shorter than the requested range");
  if (fd_ >= 0) return read_exactly(fd_, offset, to.data(), to.size());
  if (!to.empty()) std::memcpy(to.data(), data_ + offset, to.size());
  return {};
}

Status FileBytes::reserve(int protection, int flags, int fd) {
  void* memory = ::mmap(nullptr, size_, protection, flags, fd, 0);
  if (memory == MAP_FAILED)
    return fail(Errc::io, "cannot get " + std::to_string(size_) + " bytes of memory for it" + because());
  data_ = static_cast<const std::byte*>(memory);
  owned_ = true;
  return {};
}

Status FileBytes::map() {
  if (fd_ < 0) return {};  // borrowed memory
  if (Status s = reserve(PROT_READ, MAP_SHARED, fd_); !s) return s;
  done_with_file();
  return {};
}

Status FileBytes::load(std::span<const ByteRange> pieces) {
  if (fd_ < 0) return {};
  if (Status s = reserve(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1); !s) return s;
  auto* memory = const_cast<std::byte*>(data_);
  ::madvise(memory, size_, MADV_HUGEPAGE);  // reduces page faults; failure is harmless
  for (const ByteRange& piece : pieces)
    if (Status s = read_exactly(fd_, piece.offset, memory + piece.offset, piece.bytes); !s) return s;
  ::mprotect(memory, size_, PROT_READ);  // views are const: a stray write should fault
  done_with_file();
  return {};
}

}  // namespace sptile::runtime
