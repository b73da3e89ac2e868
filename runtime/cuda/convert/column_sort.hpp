// Numbers the distinct columns of every window by sorting all entries.
#pragma once

#include "runtime/cuda/convert/bits.hpp"
#include "runtime/cuda/convert/entry_key.hpp"
#include "runtime/cuda/convert/format_memory.hpp"

namespace sptile::runtime::cuda {

template <class Windows>
struct MakeKeys {
  const std::int64_t* row_ptr;
  const std::int32_t* col_idx;
  std::int64_t rows;
  Windows windows;
  EntryKey key;
  std::uint64_t* keys;
  std::uint32_t* from;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t row = last_at_most(row_ptr, rows, i);
    keys[i] = key.make(windows.window(row), col_idx[i], windows.row(row));
    from[i] = static_cast<std::uint32_t>(i);
  }
};

/// Writes 1 for each entry that starts a column, and a final 0.
struct MarkColumns {
  EntryKey key;
  const std::uint64_t* keys;
  std::int64_t entries;
  std::uint32_t* marks;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    marks[i] = i < entries && (i == 0 || key.pair(keys[i]) != key.pair(keys[i - 1]));
  }
};

struct FindFirstColumns {
  EntryKey key;
  const std::uint64_t* keys;
  std::int64_t entries;
  const std::uint32_t* before;  ///< number of columns that start before each sorted entry
  std::uint32_t* first;

  SPTILE_HOST_DEVICE void operator()(std::int64_t window) const {
    first[window] = before[lower_bound(keys, entries, key.make(window, 0, 0))];
  }
};

/// Writes the column numbers to the original positions of the entries.
template <class Windows>
struct WritePlaces {
  const std::int64_t* row_ptr;
  Windows windows;
  EntryKey key;
  const std::uint64_t* keys;
  const std::uint32_t *from, *before, *first;
  std::uint32_t* place;
  std::int32_t* id;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t window = key.window(keys[i]);
    const std::uint32_t number = before[i + 1] - 1 - first[window];
    place[from[i]] = number;
    if (before[i + 1] != before[i]) id[row_ptr[windows.begin(window)] + number] = key.column(keys[i]);
  }
};

struct ColumnSortWorkspace {
  SortBuffers sort;
  std::uint32_t* before = nullptr;

  void place(Arena& arena, std::int64_t entries) {
    sort.place(arena, entries);
    arena.take(before, entries + 1);
  }
};

/// Works like number_by_bits, for windows of any height. Memory traffic per entry: 16 bytes for keys, 24 for
/// each 8 bits of window and column, and 44 to number, about 180 bytes in total. Memory: 28 bytes per entry.
template <class Run, class Windows>
Status number_by_sort(Run& run, const DeviceCsr& csr, const Windows& of_row, std::int64_t windows,
                      std::int64_t entries, std::uint32_t* place, std::int32_t* id, std::uint32_t* first) {
  Workspace<ColumnSortWorkspace> workspace;
  if (Status s = workspace.make(run, csr.nnz); !s) return s;
  const EntryKey key{bits_for(csr.cols - 1), of_row.row_bits()};
  const std::int64_t last_window = entries < csr.nnz ? windows : windows - 1;
  run.each(csr.nnz, MakeKeys<Windows>{csr.row_ptr, csr.col_idx, csr.rows, of_row, key, workspace.sort.keys,
                                      workspace.sort.items});
  run.sort(workspace.sort, csr.nnz, key.row_bits, key.row_bits + key.column_bits + bits_for(last_window));
  run.each(entries + 1, MarkColumns{key, workspace.sort.keys, entries, workspace.before});
  run.sum(workspace.before, entries + 1);
  run.each(windows + 1, FindFirstColumns{key, workspace.sort.keys, entries, workspace.before, first});
  run.each(entries, WritePlaces<Windows>{csr.row_ptr, of_row, key, workspace.sort.keys, workspace.sort.items,
                                         workspace.before, first, place, id});
  return run.status();
}

}  // namespace sptile::runtime::cuda
