// Input of packing: rows in base order with renumbered columns, and the rows of each column.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "formats/core/packing_rules.hpp"
#include "runtime/cuda/convert/gather_rows.hpp"
#include "runtime/cuda/convert/transpose.hpp"
#include "runtime/cuda/reorder/columns.hpp"

namespace sptile::runtime::cuda::pack {

struct CountColumn {
  const std::int32_t* col_idx;
  std::uint32_t* count;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const { atomic_add(count + col_idx[i], 1u); }
};

/// Sums the nonzeros in long columns, and prepares a sort of the columns by descending length.
struct KeyByLength {
  const std::uint32_t* count;
  std::uint32_t longest_list;
  SpreadSums in_long;
  SortBuffers sort;

  SPTILE_HOST_DEVICE void operator()(std::int64_t c) const {
    if (count[c] > longest_list) in_long.add(0, c, count[c]);
    sort.keys[c] = 0xffffffffu - count[c];
    sort.items[c] = static_cast<std::uint32_t>(c);
  }
};

struct WriteInverse {
  const std::uint32_t* items;
  std::int32_t* place;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const { place[items[i]] = static_cast<std::int32_t>(i); }
};

struct RenameColumns {
  const std::int32_t *col_idx, *place;
  std::int32_t* to;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const { to[i] = place[col_idx[i]]; }
};

/// Prepares a sort of the rows: by descending length, or only empty ones last.
struct KeyRows {
  const std::int64_t* row_ptr;
  bool by_degree;
  SortBuffers sort;

  SPTILE_HOST_DEVICE void operator()(std::int64_t r) const {
    const auto entries = static_cast<std::uint64_t>(row_ptr[r + 1] - row_ptr[r]);
    sort.keys[r] = by_degree ? 0x7fffffffu - entries : entries == 0 ? 1 : 0;
    sort.items[r] = static_cast<std::uint32_t>(r);
  }
};

struct LengthWorkspace {
  SortBuffers sort;
  SpreadSums in_long;
  std::uint32_t* counts = nullptr;
  std::int32_t* places = nullptr;

  void place(Arena& arena, std::int64_t cols) {
    sort.place(arena, cols);
    in_long.count = 1;
    arena.take(in_long.sums, in_long.size());
    arena.take(counts, cols);
    arena.take(places, cols);
  }
};

/// Renumbers the columns by descending length if many nonzeros are in long columns, into `ids`. Returns
/// whether they are.
template <class Run>
Result<bool> frequent_first(Run& run, DeviceCsr& a, std::int32_t longest_list,
                            Workspace<rabbit::ColumnIds>& ids) {
  if (a.nnz == 0) return false;
  Workspace<LengthWorkspace> work;
  if (Status s = work.make(run, a.cols); !s) return tl::unexpected(s.error());
  run.clear(work.counts, static_cast<std::size_t>(a.cols) * sizeof *work.counts);
  run.clear(work.in_long.sums, static_cast<std::size_t>(work.in_long.size()) * sizeof *work.in_long.sums);
  run.each(a.nnz, CountColumn{a.col_idx, work.counts});
  run.each(a.cols,
           KeyByLength{work.counts, static_cast<std::uint32_t>(longest_list), work.in_long, work.sort});
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(work.in_long.size()));
  run.download(sums.data(), work.in_long.sums, work.in_long.size());
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  if (!packing::has_hubs(SpreadSums::total(sums, 0), a.nnz)) return false;
  Workspace<rabbit::ColumnIds> renamed;
  if (Status s = renamed.make(run, a.nnz); !s) return tl::unexpected(s.error());
  run.sort(work.sort, a.cols, 0, 32);
  run.each(a.cols, WriteInverse{work.sort.items, work.places});
  run.each(a.nnz, RenameColumns{a.col_idx, work.places, renamed.col_idx});
  run.wait();
  ids = std::move(renamed);
  a.col_idx = ids.col_idx;
  return true;
}

/// Returns the rows by descending length, or in original order with empty ones last.
template <class Run>
Result<std::vector<std::int32_t>> base_order(Run& run, const DeviceCsr& a, bool by_degree) {
  Workspace<SortBuffers> sort;
  if (Status s = sort.make(run, a.rows); !s) return tl::unexpected(s.error());
  run.each(a.rows, KeyRows{a.row_ptr, by_degree, sort});
  run.sort(sort, a.rows, 0, by_degree ? 31 : 1);
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(a.rows));
  run.download(rows.data(), sort.items, a.rows);
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  return std::vector<std::int32_t>(rows.begin(), rows.end());
}

struct BaseParts {
  std::int32_t* order = nullptr;
  std::int64_t* row_ptr = nullptr;
  std::int32_t* col_idx = nullptr;

  void place(Arena& arena, std::int64_t rows, std::int64_t entries) {
    arena.take(order, rows);
    arena.take(row_ptr, rows + 1);
    arena.take(col_idx, entries);
  }
};

/// Gathers the rows of a matrix in an order.
template <class Run>
Result<DeviceCsr> gather(Run& run, const DeviceCsr& a, const std::vector<std::int32_t>& order,
                         Workspace<BaseParts>& made) {
  if (Status s = made.make(run, a.rows, a.nnz); !s) return tl::unexpected(s.error());
  run.upload(made.order, order.data(), a.rows);
  const OrderedRows rows{made.order};
  number_rows(run, a, rows, a.rows, made.row_ptr);
  run.each(a.nnz, GatherColumns<OrderedRows>{a.row_ptr, made.row_ptr, a.col_idx, rows, a.rows, made.col_idx,
                                             nullptr});
  DeviceCsr gathered = a;
  gathered.row_ptr = made.row_ptr;
  gathered.col_idx = made.col_idx;
  return gathered;
}

}  // namespace sptile::runtime::cuda::pack
