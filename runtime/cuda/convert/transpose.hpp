// Transposition and comparison of CSR matrices.
#pragma once

#include <limits>

#include "runtime/cuda/convert/csr_check.hpp"
#include "runtime/cuda/convert/sorted_entries.hpp"

namespace sptile::runtime::cuda {

struct KeyByColumn {
  CsrRows rows;
  const std::int32_t* col_idx;
  EntryKey key;
  SortBuffers sort;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    rows.visit_apart(step, [&](std::int64_t i, std::int64_t row) {
      sort.keys[i] = key.make(col_idx[i], row, 0);
      sort.items[i] = static_cast<std::uint32_t>(i);
    });
  }
};

/// Implements transpose_on_device by a stable sort by column, which keeps the order of rows.
template <class Run>
Result<OwnedCsr> transpose_on(Run& run, const DeviceCsr& a, bool with_positions) {
  if (Status s = check_device_csr(a, "csr"); !s) return tl::unexpected(s.error());
  if (a.row_order != nullptr)
    return fail(Errc::usage,
                "transpose: row_order must be null; rows are transposed in their original order");
  if (Status s = check_on(run, a); !s) return tl::unexpected(s.error());
  Workspace<SortBuffers> sort;
  if (Status s = sort.make(run, a.nnz); !s) return tl::unexpected(s.error());
  const EntryKey key{bits_for(a.rows - 1), 0};
  const CsrRows rows{a.row_ptr, a.rows, a.nnz};
  run.each(rows.steps_apart(), KeyByColumn{rows, a.col_idx, key, sort});
  run.sort(sort, a.nnz, key.column_bits, key.column_bits + bits_for(a.cols - 1));
  DeviceCsr shape = a;
  shape.rows = a.cols;
  shape.cols = a.rows;
  return csr_of_sorted(run, {key, a.nnz, sort.keys, sort.items, nullptr}, shape, a.values, with_positions);
}

/// Records whether two arrays differ.
template <class T>
struct CompareWords {
  const T *a, *b;
  std::uint32_t* differ;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    if (a[i] != b[i]) *differ = 1;
  }
};

struct CompareWorkspace {
  std::uint32_t* differ = nullptr;

  void place(Arena& arena) { arena.take(differ, 1); }
};

/// Implements equal_on_device. Three passes, one synchronization.
template <class Run>
Result<bool> equal_on(Run& run, const DeviceCsr& a, const DeviceCsr& b) {
  if (a.rows != b.rows || a.cols != b.cols || a.nnz != b.nnz || a.value_dtype != b.value_dtype) return false;
  Workspace<CompareWorkspace> workspace;
  if (Status s = workspace.make(run); !s) return tl::unexpected(s.error());
  run.clear(workspace.differ, sizeof *workspace.differ);
  run.each(a.rows + 1, CompareWords<std::int64_t>{a.row_ptr, b.row_ptr, workspace.differ});
  run.each(a.nnz, CompareWords<std::int32_t>{a.col_idx, b.col_idx, workspace.differ});
  visit_value_word(a.value_dtype, [&](auto word) {
    using Word = decltype(word);
    run.each(a.nnz, CompareWords<Word>{static_cast<const Word*>(a.values), static_cast<const Word*>(b.values),
                                       workspace.differ});
  });
  std::uint32_t differ = 0;
  run.download(&differ, workspace.differ, 1);
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  return differ == 0;
}

}  // namespace sptile::runtime::cuda
