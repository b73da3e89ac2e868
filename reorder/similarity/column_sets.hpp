// Sets of columns of items, and their inverse: the items that contain each column.
#pragma once

#include <cstdint>
#include <span>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"

namespace sptile::reorder {

/// Sets of columns, one per item: a row, a window of rows, or several windows. Each set ascends or is in the
/// order of the matrix. Sets of rows borrow the columns of the matrix, which must outlive them; sets of
/// larger items own their columns.
struct ColumnSets {
  std::int64_t items = 0;
  std::int64_t cols = 0;
  formats::Buffer<std::int64_t> first;  ///< start of an item's set in `columns`; gaps are allowed
  formats::Buffer<std::int32_t> size;   ///< number of columns of each item
  const std::int32_t* columns = nullptr;
  formats::Buffer<std::int32_t> storage;  ///< storage of `columns`, unless borrowed

  [[nodiscard]] std::span<const std::int32_t> of(std::int64_t item) const {
    return {columns + first[item], static_cast<std::size_t>(size[item])};
  }
};

/// Returns the sets in which item i is row order[i]. O(rows), parallel.
ColumnSets sets_of_rows(const formats::CsrView& a, std::span<const std::int32_t> order);

/// Returns the sets in which item i is the union of rows order[i * height] .. order[(i + 1) * height - 1],
/// without an incomplete last item. O(nnz log height), parallel.
ColumnSets sets_of_windows(const formats::CsrView& a, std::span<const std::int32_t> order, int height);

/// Returns the sets in which item i is the union of items pairs[2 i] and pairs[2 i + 1] of `sets`. O(sum of
/// sizes), parallel.
ColumnSets unite_pairs(const ColumnSets& sets, std::span<const std::int32_t> pairs);

/// Items that contain each column, ascending: items[first[c]] .. items[first[c + 1] - 1].
struct ColumnLists {
  formats::Buffer<std::int64_t> first;
  formats::Buffer<std::int32_t> items;

  [[nodiscard]] std::span<const std::int32_t> of(std::int64_t column) const {
    return {items.data() + first[column], static_cast<std::size_t>(first[column + 1] - first[column])};
  }
};

/// Inverts sets. O(sum of sizes + cols), parallel; memory as for invert_lists.
ColumnLists lists_of_columns(const ColumnSets& sets);

}  // namespace sptile::reorder
