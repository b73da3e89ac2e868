#include "formats/io/files/temporary_name.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>

namespace sptile::formats {
namespace {

constexpr std::string_view kMark = ".sptile-";
constexpr std::string_view kSuffix = ".tmp";
constexpr std::size_t kRandomDigits = 16;
/// Maximum bytes of the target's name. The complete name must fit in 143 bytes, the limit of encrypted
/// folders.
constexpr std::size_t kNameBytes = 100;

std::string prefix_of(std::string_view name) {
  std::size_t bytes = std::min(name.size(), kNameBytes);
  const auto inside_a_letter = [&](std::size_t at) { return (name[at] & 0xC0) == 0x80; };  // UTF-8
  while (bytes > 0 && bytes < name.size() && inside_a_letter(bytes)) --bytes;
  return fmt::format(".{}{}", name.substr(0, bytes), kMark);
}

}  // namespace

SplitPath split_path(const std::string& path) {
  const std::size_t cut = path.rfind('/') + 1;  // npos + 1 == 0
  return {path.substr(0, cut), path.substr(cut)};
}

// Only the name depends on the number, and an existing name is never taken, so 0 is a valid fallback.
std::string random_temporary(std::string_view target) {
  std::uint64_t number = 0;
  static_cast<void>(::getrandom(&number, sizeof number, 0));
  return fmt::format("{}{:016x}{}", prefix_of(target), number, kSuffix);
}

bool is_temporary_of(std::string_view target, std::string_view name) {
  const std::string prefix = prefix_of(target);
  if (name.size() != prefix.size() + kRandomDigits + kSuffix.size()) return false;
  const auto digits = name.substr(prefix.size(), kRandomDigits);
  return name.starts_with(prefix) && name.ends_with(kSuffix) &&
         digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_still(int folder, const char* name, int fd) {
  struct stat named {
  }, opened{};
  return ::fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(fd, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

}  // namespace sptile::formats
