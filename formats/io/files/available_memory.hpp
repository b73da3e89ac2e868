// How much memory may be asked for.
#pragma once

#include <cstdint>
#include <string>

#include "formats/core/error.hpp"

namespace sptile::formats {

/// Returns the bytes that can be filled without swapping or hitting the limit of a control group or of the
/// address space (ulimit -v); the largest int64 where the system does not tell. Caches of files that a
/// control group can drop count as free. Reads /proc and /sys below `root`.
std::int64_t available_memory(const std::string& root = "/");

/// Makes available_memory() give `bytes` until it is destroyed, for tests and fuzzers. They do not nest.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::int64_t bytes);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
};

/// Errc::io when `bytes` are more than `available`: "WHAT need N GiB of memory; M GiB are available",
/// with MiB for less than 1 GiB.
Status check_memory(const std::string& what, std::int64_t bytes, std::int64_t available);

/// The same for arrays with a number for each row: "the arrays of N rows need ...".
Status check_row_memory(std::int64_t rows, std::int64_t bytes_per_row);

}  // namespace sptile::formats
