// What a check works in.
#pragma once

#include <cstdint>

#include "runtime/cuda/convert/arena.hpp"
#include "runtime/cuda/device_format.hpp"

namespace sptile::runtime::cuda {

/// Numbers and bits, all zero at first; nothing for a format that needs none of them.
struct ContentsRoom {
  std::uint64_t* window_entries = nullptr;  ///< counted; of formats that have no offsets of tiles
  std::uint32_t *seen_rows = nullptr, *seen_entries = nullptr;  ///< a bit for each position of an order
  std::size_t bytes = 0;                                        ///< of all of it
  std::uint32_t* fault = nullptr;  ///< elsewhere: written when something is wrong

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
