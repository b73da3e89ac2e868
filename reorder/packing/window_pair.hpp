// Two windows that exchange rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/csr_view.hpp"

namespace sptile::reorder {

inline constexpr int kTallestPair = 64;  ///< rows of a window that a WindowPair takes at most

/// Scratch space for exchanging rows between two windows; one per thread, 4 bytes per column.
class WindowPair {
 public:
  explicit WindowPair(const formats::CsrView& a);

  /// Swaps rows of x with rows of y as long as a swap lowers the cost of both together, always the swap that
  /// lowers it most. The cost of a window with d distinct columns is 8 ceil(d / 8) + d: blocks decide, and
  /// columns show the way to the next block. Returns the swaps made. O(entries + |x| |y|) per swap.
  int improve(std::span<std::int32_t> x, std::span<std::int32_t> y);

 private:
  struct Column {
    std::uint64_t in_x, in_y;  // rows that hold it, one bit each
  };

  void gather(std::span<const std::int32_t> x, std::span<const std::int32_t> y);
  void count();
  bool swap_best(std::span<std::int32_t> x, std::span<std::int32_t> y);
  void move(std::size_t i, std::size_t j);
  std::span<const std::int32_t> columns_of(std::size_t row) const;

  formats::CsrView a_;
  std::vector<std::int32_t> place_;    // by column: where it is in columns_, or -1
  std::vector<std::int32_t> ids_;      // of columns_
  std::vector<Column> columns_;        // of either window
  std::vector<std::int32_t> entries_;  // places in columns_, row after row, x then y
  std::vector<std::size_t> starts_;    // of the rows in entries_
  std::vector<std::size_t> row_at_;    // which row of entries_ stands at a position of x, then y
  // By position: distinct columns that its window would lose with it, and that the other would gain.
  std::vector<std::int32_t> loss_, gain_;
  std::vector<std::int32_t> shared_;  // [i][j]: columns counted lost and gained that stay, when i and j swap
  std::int64_t distinct_x_ = 0, distinct_y_ = 0;
  std::size_t height_x_ = 0, height_y_ = 0;
};

}  // namespace sptile::reorder
