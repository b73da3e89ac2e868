// Complete writes to open files.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sptile::formats {

/// The functions return 0 or an errno. Above the file size limit (`ulimit -f`) it is EFBIG, whatever the
/// process's action for SIGXFSZ, because the signal is suppressed.

/// Writes all bytes at the current position.
[[nodiscard]] int write_all(int fd, const void* data, std::size_t bytes) noexcept;
/// Writes all bytes at `offset`.
[[nodiscard]] int write_all_at(int fd, std::uint64_t offset, const void* data, std::size_t bytes) noexcept;
/// Truncates the file, or extends it with zeros.
[[nodiscard]] int resize_file(int fd, std::uint64_t bytes) noexcept;

}  // namespace sptile::formats
