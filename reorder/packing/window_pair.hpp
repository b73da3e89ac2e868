// Row swaps between two windows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/csr_view.hpp"

namespace sptile::reorder {

inline constexpr int kTallestPair = 64;  ///< maximum rows per window of a WindowPair

/// Workspace for swapping rows between two windows; one per thread, 4 bytes per column.
class WindowPair {
 public:
  explicit WindowPair(const formats::CsrView& a);

  /// Swaps rows of x and y while a swap lowers the total cost, best swap first. The cost of a window with d
  /// distinct columns is 8 ceil(d / 8) + d: mostly the blocks, and the columns guide the search towards the
  /// next block. Returns the number of swaps. O(nnz + |x| |y|) per swap.
  int improve(std::span<std::int32_t> x, std::span<std::int32_t> y);

 private:
  struct Column {
    std::uint64_t in_x, in_y;  // rows that contain it, one bit per row
  };

  void gather(std::span<const std::int32_t> x, std::span<const std::int32_t> y);
  void count();
  bool swap_best(std::span<std::int32_t> x, std::span<std::int32_t> y);
  void move(std::size_t i, std::size_t j);
  std::span<const std::int32_t> columns_of(std::size_t row) const;

  formats::CsrView a_;
  std::vector<std::int32_t> place_;    // by column: index in columns_, or -1
  std::vector<std::int32_t> ids_;      // column ids of columns_
  std::vector<Column> columns_;        // columns of either window
  std::vector<std::int32_t> entries_;  // indices in columns_, row by row, x then y
  std::vector<std::size_t> starts_;    // starts of the rows in entries_
  std::vector<std::size_t> row_at_;    // row in entries_ at each position of x, then y
  // By position: distinct columns that the row's window would lose, and that the other window would gain.
  std::vector<std::int32_t> loss_, gain_;
  std::vector<std::int32_t> shared_;  // [i][j]: columns counted as lost and gained that stay if i and j are
                                      // swapped
  std::int64_t distinct_x_ = 0, distinct_y_ = 0;
  std::size_t height_x_ = 0, height_y_ = 0;
};

}  // namespace sptile::reorder
