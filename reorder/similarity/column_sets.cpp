#include "reorder/similarity/column_sets.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>
#include <vector>

#include "formats/core/invert_lists.hpp"
#include "formats/core/parallel_loop.hpp"

namespace sptile::reorder {
namespace {

constexpr std::int64_t kGrain = 1024;  // items per task

template <class F>
void for_each_item(std::int64_t items, const F& f) {
  parallel::loop(tbb::blocked_range<std::int64_t>(0, items, kGrain), [&](const auto& range) {
    for (std::int64_t i = range.begin(); i < range.end(); ++i) f(i);
  });
}

/// Allocates sets with their own storage, of at most `bound(item)` columns each.
template <class Bound>
ColumnSets allocate(std::int64_t items, std::int64_t cols, const Bound& bound) {
  ColumnSets sets{items,   cols, formats::Buffer<std::int64_t>(items), formats::Buffer<std::int32_t>(items),
                  nullptr, {}};
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < items; ++i) {
    sets.first[i] = total;
    total += bound(i);
  }
  sets.storage = formats::Buffer<std::int32_t>(total);
  sets.columns = sets.storage.data();
  return sets;
}

/// Removes duplicates from an ascending list; returns the new length.
std::int32_t keep_distinct(std::span<std::int32_t> list) {
  return static_cast<std::int32_t>(std::unique(list.begin(), list.end()) - list.begin());
}

}  // namespace

ColumnSets sets_of_rows(const formats::CsrView& a, std::span<const std::int32_t> order) {
  const auto items = static_cast<std::int64_t>(order.size());
  ColumnSets sets{items,
                  a.cols,
                  formats::Buffer<std::int64_t>(items),
                  formats::Buffer<std::int32_t>(items),
                  a.col_idx.data(),
                  {}};
  for_each_item(items, [&](std::int64_t i) {
    const std::int32_t row = order[static_cast<std::size_t>(i)];
    sets.first[i] = a.row_ptr[static_cast<std::size_t>(row)];
    sets.size[i] = static_cast<std::int32_t>(a.row_nnz(row));
  });
  return sets;
}

ColumnSets sets_of_windows(const formats::CsrView& a, std::span<const std::int32_t> order, int height) {
  const std::int64_t items = static_cast<std::int64_t>(order.size()) / height;
  const auto rows_of = [&](std::int64_t item) {
    return order.subspan(static_cast<std::size_t>(item * height), static_cast<std::size_t>(height));
  };
  ColumnSets sets = allocate(items, a.cols, [&](std::int64_t item) {
    std::int64_t sum = 0;
    for (const std::int32_t row : rows_of(item)) sum += a.row_nnz(row);
    return sum;
  });
  for_each_item(items, [&](std::int64_t item) {
    std::int32_t* const begin = sets.storage.data() + sets.first[item];
    std::int32_t* end = begin;
    std::vector<std::int32_t*> runs = {begin};
    for (const std::int32_t row : rows_of(item)) {
      end = std::copy_n(a.col_idx.data() + a.row_ptr[static_cast<std::size_t>(row)], a.row_nnz(row), end);
      runs.push_back(end);
    }
    // Rows are sorted, so pairwise merging of adjacent runs is faster than sorting.
    const std::size_t rows = runs.size() - 1;
    for (std::size_t width = 1; width < rows; width *= 2)
      for (std::size_t r = 0; r + width < rows; r += 2 * width)
        std::inplace_merge(runs[r], runs[r + width], runs[std::min(rows, r + 2 * width)]);
    sets.size[item] = keep_distinct({begin, static_cast<std::size_t>(end - begin)});
  });
  return sets;
}

ColumnSets unite_pairs(const ColumnSets& sets, std::span<const std::int32_t> pairs) {
  const auto half = [&](std::int64_t item, std::int64_t which) {
    return pairs[static_cast<std::size_t>(2 * item + which)];
  };
  ColumnSets united = allocate(
      static_cast<std::int64_t>(pairs.size() / 2), sets.cols,
      [&](std::int64_t item) { return std::int64_t{sets.size[half(item, 0)]} + sets.size[half(item, 1)]; });
  for_each_item(united.items, [&](std::int64_t item) {
    const auto x = sets.of(half(item, 0)), y = sets.of(half(item, 1));
    std::int32_t* const begin = united.storage.data() + united.first[item];
    united.size[item] =
        static_cast<std::int32_t>(std::set_union(x.begin(), x.end(), y.begin(), y.end(), begin) - begin);
  });
  return united;
}

ColumnLists lists_of_columns(const ColumnSets& sets) {
  std::vector<std::int64_t> before(static_cast<std::size_t>(sets.items) + 1, 0);
  for (std::int64_t i = 0; i < sets.items; ++i)
    before[static_cast<std::size_t>(i) + 1] = before[static_cast<std::size_t>(i)] + sets.size[i];
  formats::InverseLists inverse =
      formats::invert_lists(sets.cols, before, [&](std::int64_t item) { return sets.of(item); });
  return {std::move(inverse.first), std::move(inverse.items)};
}

}  // namespace sptile::reorder
