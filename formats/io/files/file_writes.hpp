// Writing to open files, all or an errno.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sptile::formats {

/// These return 0, or the errno of what stopped them. Beyond the limit on the size of files (`ulimit -f`)
/// that is EFBIG, whatever the program does with SIGXFSZ: the signal is kept from it.

/// Writes all of it where the file stands.
[[nodiscard]] int write_all(int fd, const void* data, std::size_t bytes) noexcept;
/// Writes all of it at `offset`.
[[nodiscard]] int write_all_at(int fd, std::uint64_t offset, const void* data, std::size_t bytes) noexcept;
/// Cuts the file, or extends it with zeros.
[[nodiscard]] int resize_file(int fd, std::uint64_t bytes) noexcept;

}  // namespace sptile::formats
