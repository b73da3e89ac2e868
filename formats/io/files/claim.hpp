// Allocation of arrays whose lengths come from files, after a check of the free memory.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/core/buffer.hpp"

namespace sptile::formats {

/// Throws OutOfMemory ("WHAT need N MiB of memory; ...") if `count` elements of `bytes_each` bytes exceed the
/// free memory. Does not check less than 1 MiB.
void claim_memory(std::int64_t count, std::int64_t bytes_each, std::string_view what = "its arrays");

/// Allocates an array of `count` elements after claim_memory.
template <class T>
Buffer<T> claim(std::int64_t count, std::string_view what = "its arrays") {
  claim_memory(count, sizeof(T), what);
  return Buffer<T>(count);
}
inline Array claim(DType dtype, std::int64_t count, std::string_view what = "its arrays") {
  claim_memory(count, static_cast<std::int64_t>(size_of(dtype)), what);
  return {dtype, count};
}

}  // namespace sptile::formats
