// Integer keys that sort entries by window, column and row.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

/// Bit widths of the parts of a key: window, column, row in the window.
struct EntryKey {
  int column_bits = 0, row_bits = 0;

  SPTILE_HOST_DEVICE std::uint64_t make(std::int64_t window, std::int64_t column, std::int64_t row) const {
    return (static_cast<std::uint64_t>(window) << column_bits | static_cast<std::uint64_t>(column))
               << row_bits |
           static_cast<std::uint64_t>(row);
  }
  SPTILE_HOST_DEVICE std::int64_t window(std::uint64_t key) const {
    return static_cast<std::int64_t>(key >> (column_bits + row_bits));
  }
  /// Returns window and column.
  SPTILE_HOST_DEVICE std::uint64_t pair(std::uint64_t key) const { return key >> row_bits; }
  SPTILE_HOST_DEVICE std::int32_t column(std::uint64_t key) const {
    return static_cast<std::int32_t>(key >> row_bits & ((std::uint64_t{1} << column_bits) - 1));
  }
  SPTILE_HOST_DEVICE int row(std::uint64_t key) const {
    return static_cast<int>(key & ((std::uint64_t{1} << row_bits) - 1));
  }
};

/// Keys with an item each, and space to sort them; run.sort leaves the sorted arrays in the first of each
/// pair.
struct SortBuffers {
  std::uint64_t* keys = nullptr;
  std::uint32_t* items = nullptr;
  std::uint64_t* other_keys = nullptr;
  std::uint32_t* other_items = nullptr;

  template <class Arena>
  void place(Arena& arena, std::int64_t size) {
    arena.take(keys, size);
    arena.take(items, size);
    arena.take(other_keys, size);
    arena.take(other_items, size);
  }
};

}  // namespace sptile::runtime::cuda
