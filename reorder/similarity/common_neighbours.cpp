#include "reorder/similarity/common_neighbours.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>

#include "formats/core/parallel_loop.hpp"

namespace sptile::reorder {

PlacedMatrix place(const formats::CsrView& a, std::span<const std::int32_t> order,
                   std::span<const std::int32_t> column_place) {
  PlacedMatrix placed;
  placed.rows = formats::permute_rows({a.rows, a.cols, a.row_ptr, a.col_idx, {}}, order);
  parallel::loop(tbb::blocked_range<std::int64_t>(0, a.nnz(), 1 << 14), [&](const auto& range) {
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
      touched_(2 * kMaxCounts + 2),
      column_of_(static_cast<std::size_t>(matrix.rows.cols), -1) {}

void CommonNeighbours::count_column(std::int32_t column, std::int32_t row, std::int64_t max) {
  const std::int32_t* first = matrix_.columns.col_idx.data() + matrix_.columns.row_ptr[column];
  const std::int32_t* last = matrix_.columns.col_idx.data() + matrix_.columns.row_ptr[column + 1];
  if (last - first > max) {
    const std::int32_t* const self = std::lower_bound(first, last, row);
    first = self - std::clamp(max / 2, max - (last - self), self - first);
    last = first + max;
  }
  for (; first != last; ++first) {
    touched_[touched_count_] = *first;
    touched_count_ += common_[static_cast<std::size_t>(*first)]++ == 0;
  }
}

bool CommonNeighbours::count(std::int32_t row) {
  touched_count_ = 0;
  const formats::Csr& rows = matrix_.rows;
  const std::int64_t first = rows.row_ptr[row], end = rows.row_ptr[row + 1];
  const std::int64_t step = 1 + (end - first) * kMinRows / (kMaxCounts + 1);
  const auto sum = [&](std::int64_t max, std::int64_t& longer) {
    std::int64_t counts = 0;
    for (std::int64_t k = first; k < end; k += step) {
      const std::int32_t c = rows.col_idx[k];
      const std::int64_t length = matrix_.columns.row_ptr[c + 1] - matrix_.columns.row_ptr[c];
      counts += std::min(length, max);
      longer += length > max;
    }
    return counts;
  };
  // Each column has an equal share of the budget; shares unused by short columns go to longer ones.
  std::int64_t longer = 0;
  std::int64_t max = kMaxCounts / std::max<std::int64_t>(1, (end - first + step - 1) / step);
  const std::int64_t counts = sum(max, longer);
  if (longer > 0) max += (kMaxCounts - counts) / longer;
  for (std::int64_t k = first; k < end; k += step) count_column(rows.col_idx[k], row, max);
  return longer > 0 || step > 1;
}

void CommonNeighbours::recount(std::int32_t row, std::span<std::int32_t> others) {
  const formats::Csr& rows = matrix_.rows;
  std::int64_t counts = rows.row_ptr[row + 1] - rows.row_ptr[row];
  for (const std::int32_t other : others) counts += rows.row_ptr[other + 1] - rows.row_ptr[other];
  if (counts > kMaxCounts) return;
  const auto columns = [&](std::int32_t r) {
    return std::span(rows.col_idx.data() + rows.row_ptr[r],
                     static_cast<std::size_t>(rows.row_ptr[r + 1] - rows.row_ptr[r]));
  };
  for (const std::int32_t c : columns(row)) column_of_[static_cast<std::size_t>(c)] = row;
  for (const std::int32_t other : others) {
    std::int64_t shared = 0;
    for (const std::int32_t c : columns(other)) shared += column_of_[static_cast<std::size_t>(c)] == row;
    common_[static_cast<std::size_t>(other)] =
        static_cast<std::uint16_t>(std::min<std::int64_t>(shared, 65535));
  }
  std::sort(others.begin(), others.end(), [&](std::int32_t x, std::int32_t y) { return before(row, x, y); });
}

}  // namespace sptile::reorder
