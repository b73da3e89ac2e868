// Numbers the distinct columns of low windows by searching each column in the other rows.
#pragma once

#include "runtime/cuda/convert/csr_rows.hpp"
#include "runtime/cuda/convert/format_memory.hpp"

namespace sptile::runtime::cuda {

/// Searches of the rows of windows.
template <class Windows>
struct WindowSearch {
  CsrRows rows;
  const std::int32_t* col_idx;
  Windows windows;
  std::int64_t count;  ///< number of windows

  SPTILE_HOST_DEVICE std::int64_t end(std::int64_t window) const {
    const std::int64_t end = windows.end(window);
    return end < rows.rows ? end : rows.rows;
  }
};

/// Writes 1 for each entry of a window whose column is in no earlier row of the window.
template <class Windows>
struct MarkFirst {
  WindowSearch<Windows> search;
  std::uint32_t* marks;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    search.rows.visit_apart(
        step, [&](std::int64_t entry, std::int64_t row) { marks[entry] = is_first(entry, row); });
  }

 private:
  SPTILE_HOST_DEVICE bool is_first(std::int64_t entry, std::int64_t row) const {
    const std::int64_t window = search.windows.window(row);
    if (window >= search.count) return false;
    const std::int32_t column = search.col_idx[entry];
    for (std::int64_t r = search.windows.begin(window); r < row; ++r)
      if (search.rows.has(search.col_idx, r, column)) return false;
    return true;
  }
};

/// Computes the rank of each column: the sum, over the rows of a window, of the first entries before the
/// column.
template <class Windows>
struct RankColumns {
  WindowSearch<Windows> search;
  const std::uint32_t* before;  ///< first entries before each entry
  std::uint32_t* place;
  std::int32_t* id;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    search.rows.visit_apart(step, [&](std::int64_t entry, std::int64_t row) {
      const std::int64_t window = search.windows.window(row);
      if (window >= search.count) return;
      const std::int32_t column = search.col_idx[entry];
      const std::int64_t first = search.windows.begin(window);
      std::uint32_t rank = 0;
      for (std::int64_t r = first; r < search.end(window); ++r)
        rank += before[r == row ? entry : search.rows.find(search.col_idx, r, column)] -
                before[search.rows.row_ptr[r]];
      place[entry] = rank;
      if (before[entry + 1] != before[entry]) id[search.rows.row_ptr[first] + rank] = column;
    });
  }
};

template <class Windows>
struct CopyFirstColumns {
  WindowSearch<Windows> search;
  const std::uint32_t* before;
  std::uint32_t* first;

  SPTILE_HOST_DEVICE void operator()(std::int64_t window) const {
    first[window] = before[window < search.count ? search.rows.row_ptr[search.windows.begin(window)]
                                                 : search.rows.entries];
  }
};

struct ColumnRankWorkspace {
  std::uint32_t* before = nullptr;

  void place(Arena& arena, std::int64_t entries) { arena.take(before, entries + 1); }
};

/// Works like number_by_bits. About 40 bytes of memory traffic per entry and, for windows of H rows, 1.5 H
/// searches served by caches; 4 bytes of memory per entry.
template <class Run, class Windows>
Status number_by_rank(Run& run, const DeviceCsr& csr, const Windows& of_row, std::int64_t windows,
                      std::uint32_t* place, std::int32_t* id, std::uint32_t* first) {
  Workspace<ColumnRankWorkspace> workspace;
  if (Status s = workspace.make(run, csr.nnz); !s) return s;
  const WindowSearch<Windows> search{{csr.row_ptr, csr.rows, csr.nnz}, csr.col_idx, of_row, windows};
  run.clear(workspace.before + csr.nnz, sizeof *workspace.before);
  run.each(search.rows.steps_apart(), MarkFirst<Windows>{search, workspace.before});
  run.sum(workspace.before, csr.nnz + 1);
  run.each(search.rows.steps_apart(), RankColumns<Windows>{search, workspace.before, place, id});
  run.each(windows + 1, CopyFirstColumns<Windows>{search, workspace.before, first});
  return run.status();
}

}  // namespace sptile::runtime::cuda
