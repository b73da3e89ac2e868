// Workspace of a check.
#pragma once

#include <cstdint>

#include "runtime/cuda/convert/arena.hpp"
#include "runtime/cuda/device_format.hpp"

namespace sptile::runtime::cuda {

/// Counters and bits, initially zero; empty if the format needs none.
struct ContentsWorkspace {
  std::uint64_t* window_entries = nullptr;                      ///< counters for formats without tile offsets
  std::uint32_t *seen_rows = nullptr, *seen_entries = nullptr;  ///< one bit per position of an order
  std::size_t bytes = 0;                                        ///< total size
  std::uint32_t* fault = nullptr;  ///< allocated separately; set if the matrix is invalid

  void place(Arena& arena, const DeviceFormat& format, std::int64_t counted_windows) {
    arena.take(window_entries, counted_windows);
    arena.take(seen_rows, format.row_order == nullptr ? 0 : words(format.view.rows));
    arena.take(seen_entries, words(format.value_source.size));
    bytes = arena.bytes();
  }

 private:
  static std::int64_t words(std::int64_t bits) { return (bits + 31) / 32; }
};

}  // namespace sptile::runtime::cuda
