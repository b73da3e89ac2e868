// Renumbers the nonempty columns of a matrix in device memory, as formats::CompactColumns.
#pragma once

#include "formats/core/compact_rule.hpp"
#include "runtime/cuda/convert/bits.hpp"
#include "runtime/cuda/convert/entry_key.hpp"
#include "runtime/cuda/convert/format_memory.hpp"

namespace sptile::runtime::cuda::rabbit {

struct KeyByColumnId {
  const std::int32_t* col_idx;
  SortBuffers sort;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    sort.keys[i] = static_cast<std::uint64_t>(col_idx[i]);
    sort.items[i] = static_cast<std::uint32_t>(i);
  }
};

/// Marks the entries whose column differs from that of the next entry, by column.
struct MarkLastOfColumn {
  const std::uint64_t* columns;
  std::int64_t entries;
  std::uint32_t* marks;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    marks[i] = i + 1 < entries && columns[i] != columns[i + 1] ? 1 : 0;
  }
};

struct WriteColumns {
  SortBuffers sort;
  const std::uint32_t* before;  ///< prefix sums of the marks
  std::int32_t* col_idx;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    col_idx[sort.items[i]] = static_cast<std::int32_t>(before[i]);
  }
};

struct ColumnIds {
  std::int32_t* col_idx = nullptr;

  void place(Arena& arena, std::int64_t entries) { arena.take(col_idx, entries); }
};

struct ColumnSort {
  SortBuffers sort;
  std::uint32_t* marks = nullptr;

  void place(Arena& arena, std::int64_t entries) {
    sort.place(arena, entries);
    arena.take(marks, entries);
  }
};

/// Renumbers the columns of a valid matrix if there are many empty ones; `ids` holds the new ids.
template <class Run>
Status renumber_columns(Run& run, DeviceCsr& a, Workspace<ColumnIds>& ids) {
  if (!formats::renumbers_columns(a.rows, a.cols, a.nnz)) return {};
  std::uint32_t last = 0;
  if (a.nnz > 0) {
    Workspace<ColumnSort> work;
    if (Status s = work.make(run, a.nnz); !s) return s;
    if (Status s = ids.make(run, a.nnz); !s) return s;
    run.each(a.nnz, KeyByColumnId{a.col_idx, work.sort});
    run.sort(work.sort, a.nnz, 0, bits_for(a.cols - 1));
    run.each(a.nnz, MarkLastOfColumn{work.sort.keys, a.nnz, work.marks});
    run.sum(work.marks, a.nnz);
    run.each(a.nnz, WriteColumns{work.sort, work.marks, ids.col_idx});
    run.download(&last, work.marks + a.nnz - 1, 1);
    if (Status s = run.status(); !s) return s;
    a.col_idx = ids.col_idx;
  }
  a.cols = formats::renumbered_cols(a.rows, a.nnz > 0 ? std::int64_t{last} + 1 : 0);
  return {};
}

}  // namespace sptile::runtime::cuda::rabbit
