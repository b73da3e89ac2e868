// Available memory, and checks before large allocations.
#pragma once

#include <cstdint>
#include <string>

#include "formats/core/error.hpp"

namespace sptile::formats {

/// Returns the bytes that can be used without swapping or reaching the limit of a control group or of the
/// address space (ulimit -v); the maximum int64 if unknown. Caches that a control group can drop count as
/// free. Reads /proc and /sys below `root`.
std::int64_t available_memory(const std::string& root = "/");

/// Overrides the result of available_memory() during its lifetime, for tests and fuzzers. Must not be nested.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::int64_t bytes);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
};

/// Errc::io if `bytes` exceeds `available`: "WHAT need N GiB of memory; M GiB are available" (MiB below 1
/// GiB).
Status check_memory(const std::string& what, std::int64_t bytes, std::int64_t available);

/// Works like check_memory for arrays indexed by row: "the arrays of N rows need ...".
Status check_row_memory(std::int64_t rows, std::int64_t bytes_per_row);

}  // namespace sptile::formats
