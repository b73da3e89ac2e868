#include "reorder/packing/row_pool.hpp"

#include <cassert>
#include <utility>

namespace sptile::reorder {

void RowPool::start_window() {
  ++window_;
  rows_.clear();
}

void RowPool::add(std::int32_t row, std::span<const std::int32_t> columns) {
  assert(rows_.size() < kMax);
  const std::uint32_t bit = std::uint32_t{1} << rows_.size();
  std::int32_t missing = 0;
  for (const std::int32_t column : columns) {
    std::uint32_t& held = holders(column);
    missing += (held & kInWindow) == 0;
    held |= bit;
  }
  rows_.push_back({row, missing, columns});
}

void RowPool::clear() {
  for (const Row& row : rows_)
    for (const std::int32_t column : row.columns) holders(column) &= kInWindow;
  rows_.clear();
}

std::int32_t RowPool::take_densest(std::int64_t entries, std::int64_t columns, bool whole_blocks) {
  Row* best = nullptr;
  double max = 0;
  for (Row& row : rows_) {
    if (row.row < 0) continue;
    const double density =
        packing::exact_density(entries, columns, std::ssize(row.columns), row.missing, whole_blocks);
    if (density > max) max = density, best = &row;
  }
  return best == nullptr ? -1 : std::exchange(best->row, -1);
}

std::int32_t RowPool::most_shared() const {
  std::int32_t best = -1;
  std::int64_t max = 0;
  for (const Row& row : rows_) {
    const std::int64_t shared = static_cast<std::int64_t>(row.columns.size()) - row.missing;
    if (row.row >= 0 && shared > max) max = shared, best = row.row;
  }
  return best;
}

}  // namespace sptile::reorder
