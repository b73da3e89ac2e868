#include "tools/cli/mapped_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sptile::tools {
namespace {

/// Reads a file byte by byte without heap memory.
class Bytes {
 public:
  explicit Bytes(const char* path) noexcept : fd_(::open(path, O_RDONLY | O_CLOEXEC)) {}
  ~Bytes() {
    if (fd_ >= 0) ::close(fd_);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  std::optional<char> next() noexcept {
    if (at_ == end_) {
      const ssize_t count = fd_ < 0 ? 0 : ::read(fd_, block_.data(), block_.size());
      if (count <= 0) return std::nullopt;
      at_ = 0, end_ = static_cast<std::size_t>(count);
    }
    return block_[at_++];
  }

 private:
  int fd_;
  std::array<char, 1024> block_{};
  std::size_t at_ = 0, end_ = 0;
};

/// Reads a hexadecimal number and the character after it.
std::optional<std::uintptr_t> take_number(Bytes& bytes) noexcept {
  std::uintptr_t number = 0;
  for (;;) {
    const std::optional<char> c = bytes.next();
    if (!c) return std::nullopt;
    const bool digit = *c >= '0' && *c <= '9', letter = *c >= 'a' && *c <= 'f';
    if (!digit && !letter) return number;
    number = number << 4 | static_cast<std::uintptr_t>(digit ? *c - '0' : *c - 'a' + 10);
  }
}

/// Reads the rest of a line and copies the part from the first '/' to `path`.
std::size_t take_path(Bytes& bytes, std::span<char> path) noexcept {
  std::size_t length = 0;
  for (auto c = bytes.next(); c && *c != '\n'; c = bytes.next())
    if ((length > 0 || *c == '/') && length < path.size()) path[length++] = *c;
  return length;
}

}  // namespace

std::string_view mapped_file(const void* address, std::span<char> path) noexcept {
  const auto target = reinterpret_cast<std::uintptr_t>(address);
  Bytes maps("/proc/self/maps");
  for (;;) {
    const auto first = take_number(maps), end = take_number(maps);
    if (!first || !end) return {};
    const std::size_t length = take_path(maps, path);
    if (target >= *first && target < *end) return {path.data(), length};
  }
}

}  // namespace sptile::tools
