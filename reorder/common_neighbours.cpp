#include "reorder/common_neighbours.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <bit>

namespace sptile::reorder {

PlacedMatrix place(const formats::CsrView& a, std::span<const std::int32_t> order,
                   std::span<const std::int32_t> column_place) {
  PlacedMatrix placed;
  placed.rows = formats::permute_rows({a.rows, a.cols, a.row_ptr, a.col_idx, {}}, order);
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, a.nnz(), 1 << 14), [&](const auto& range) {
    for (std::int64_t k = range.begin(); k < range.end(); ++k) {
      std::int32_t& column = placed.rows.col_idx[k];
      column = column_place[static_cast<std::size_t>(column)];
    }
  });
  placed.columns = formats::transpose(placed.rows.view());
  return placed;
}

CommonNeighbours::CommonNeighbours(const PlacedMatrix& matrix)
    : matrix_(matrix),
      common_(static_cast<std::size_t>(matrix.rows.rows), 0),
      touched_(static_cast<std::size_t>(kMostCounts + kMostRows)) {}

void CommonNeighbours::count_column(std::int32_t column, std::int32_t row) {
  const std::int32_t* first = matrix_.columns.col_idx.data() + matrix_.columns.row_ptr[column];
  const std::int32_t* last = matrix_.columns.col_idx.data() + matrix_.columns.row_ptr[column + 1];
  if (last - first > kMostRows) {
    const std::int32_t* const self = std::lower_bound(first, last, row);
    first = std::clamp(self - kMostRows / 2, first, last - kMostRows);
    last = first + kMostRows;
  }
  for (; first != last; ++first) {
    touched_[touched_count_] = *first;
    touched_count_ += common_[static_cast<std::size_t>(*first)]++ == 0;
  }
}

void CommonNeighbours::count(std::int32_t row) {
  touched_count_ = 0;
  const formats::Csr& rows = matrix_.rows;
  const std::span<const std::int32_t> columns = {
      rows.col_idx.data() + rows.row_ptr[row],
      static_cast<std::size_t>(rows.row_ptr[row + 1] - rows.row_ptr[row])};
  const auto length = [&](std::int32_t c) {
    return std::min(kMostRows, matrix_.columns.row_ptr[c + 1] - matrix_.columns.row_ptr[c]);
  };
  // Work by bit width of the column lengths: a sort that is good enough to take short columns first.
  std::array<std::int64_t, 16> work{};
  std::int64_t total = 0;
  for (const std::int32_t c : columns) total += length(c);
  if (total <= kMostCounts) {
    for (const std::int32_t c : columns) count_column(c, row);
    return;
  }
  const auto width = [&](std::int32_t c) {
    return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(length(c))));
  };
  for (const std::int32_t c : columns) work[width(c)] += length(c);
  std::size_t widest = 0;  // columns of this width are counted while there is room, shorter ones all
  std::int64_t room = kMostCounts;
  while (room >= work[widest]) room -= work[widest++];
  for (const std::int32_t c : columns) {
    if (width(c) > widest || (width(c) == widest && room <= 0)) continue;
    if (width(c) == widest) room -= length(c);
    count_column(c, row);
  }
}

}  // namespace sptile::reorder
