#include "reorder/packing/window_pair.hpp"

#include <bit>
#include <cassert>
#include <utility>

namespace sptile::reorder {
namespace {

constexpr std::uint64_t bit(std::size_t i) { return std::uint64_t{1} << i; }

constexpr bool is_single(std::uint64_t mask) { return mask != 0 && (mask & (mask - 1)) == 0; }

std::size_t first_bit(std::uint64_t mask) { return static_cast<std::size_t>(std::countr_zero(mask)); }

/// Calls f(i) for each bit of a mask.
template <class F>
void for_each_bit(std::uint64_t mask, const F& f) {
  for (; mask != 0; mask &= mask - 1) f(first_bit(mask));
}

std::int64_t cost(std::int64_t distinct) { return ((distinct + 7) & ~std::int64_t{7}) + distinct; }

}  // namespace

WindowPair::WindowPair(const formats::CsrView& a) : a_(a), place_(static_cast<std::size_t>(a.cols), -1) {}

std::span<const std::int32_t> WindowPair::columns_of(std::size_t row) const {
  return {entries_.data() + starts_[row], starts_[row + 1] - starts_[row]};
}

int WindowPair::improve(std::span<std::int32_t> x, std::span<std::int32_t> y) {
  assert(x.size() <= kTallestPair && y.size() <= kTallestPair);
  gather(x, y);
  int swaps = 0;
  // Terminates, because each swap lowers the cost; the bound limits the time of a single pair.
  while (swaps < static_cast<int>(x.size()) && swap_best(x, y)) ++swaps;
  return swaps;
}

void WindowPair::gather(std::span<const std::int32_t> x, std::span<const std::int32_t> y) {
  height_x_ = x.size(), height_y_ = y.size();
  columns_.clear(), ids_.clear(), entries_.clear(), row_at_.clear();
  starts_.assign(1, 0);
  const auto add_row = [&](std::int32_t row, std::uint64_t in_x, std::uint64_t in_y) {
    const auto begin = static_cast<std::size_t>(a_.row_ptr[static_cast<std::size_t>(row)]);
    for (const std::int32_t id : a_.col_idx.subspan(begin, static_cast<std::size_t>(a_.row_nnz(row)))) {
      std::int32_t& place = place_[static_cast<std::size_t>(id)];
      if (place < 0) {
        place = static_cast<std::int32_t>(columns_.size());
        columns_.push_back({0, 0});
        ids_.push_back(id);
      }
      Column& column = columns_[static_cast<std::size_t>(place)];
      column.in_x |= in_x, column.in_y |= in_y;
      entries_.push_back(place);
    }
    row_at_.push_back(row_at_.size());
    starts_.push_back(entries_.size());
  };
  for (std::size_t i = 0; i < x.size(); ++i) add_row(x[i], bit(i), 0);
  for (std::size_t j = 0; j < y.size(); ++j) add_row(y[j], 0, bit(j));
  for (const std::int32_t id : ids_) place_[static_cast<std::size_t>(id)] = -1;
}

void WindowPair::count() {
  loss_.assign(height_x_ + height_y_, 0);
  gain_.assign(height_x_ + height_y_, 0);
  shared_.assign(2 * height_x_ * height_y_, 0);
  distinct_x_ = distinct_y_ = 0;
  std::int32_t* const in_x = shared_.data();  // columns that x loses with i and regains with j
  std::int32_t* const in_y =
      shared_.data() + height_x_ * height_y_;  // columns that y loses with j and regains with i
  for (const Column& column : columns_) {
    distinct_x_ += column.in_x != 0;
    distinct_y_ += column.in_y != 0;
    if (column.in_x == 0) for_each_bit(column.in_y, [&](std::size_t j) { ++gain_[height_x_ + j]; });
    if (column.in_y == 0) for_each_bit(column.in_x, [&](std::size_t i) { ++gain_[i]; });
    if (is_single(column.in_x)) {
      const std::size_t i = first_bit(column.in_x);
      ++loss_[i];
      for_each_bit(column.in_y, [&](std::size_t j) { ++in_x[i * height_y_ + j]; });
    }
    if (is_single(column.in_y)) {
      const std::size_t j = first_bit(column.in_y);
      ++loss_[height_x_ + j];
      for_each_bit(column.in_x, [&](std::size_t i) { ++in_y[i * height_y_ + j]; });
    }
  }
}

bool WindowPair::swap_best(std::span<std::int32_t> x, std::span<std::int32_t> y) {
  count();
  std::int64_t best = cost(distinct_x_) + cost(distinct_y_);
  std::size_t best_i = height_x_, best_j = 0;
  const std::size_t half = height_x_ * height_y_;
  for (std::size_t i = 0; i < height_x_; ++i)
    for (std::size_t j = 0; j < height_y_; ++j) {
      const std::size_t at = i * height_y_ + j, other = height_x_ + j;
      const std::int64_t after = cost(distinct_x_ - loss_[i] + gain_[other] + shared_[at]) +
                                 cost(distinct_y_ - loss_[other] + gain_[i] + shared_[half + at]);
      if (after < best) best = after, best_i = i, best_j = j;
    }
  if (best_i == height_x_) return false;
  move(best_i, best_j);
  std::swap(x[best_i], y[best_j]);
  return true;
}

void WindowPair::move(std::size_t i, std::size_t j) {
  std::size_t &row_x = row_at_[i], &row_y = row_at_[height_x_ + j];
  for (const std::int32_t place : columns_of(row_x))
    columns_[static_cast<std::size_t>(place)].in_x &= ~bit(i);
  for (const std::int32_t place : columns_of(row_y))
    columns_[static_cast<std::size_t>(place)].in_y &= ~bit(j);
  std::swap(row_x, row_y);
  for (const std::int32_t place : columns_of(row_x)) columns_[static_cast<std::size_t>(place)].in_x |= bit(i);
  for (const std::int32_t place : columns_of(row_y)) columns_[static_cast<std::size_t>(place)].in_y |= bit(j);
}

}  // namespace sptile::reorder
