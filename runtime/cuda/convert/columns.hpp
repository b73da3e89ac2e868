// The distinct columns of every window, on the device: what all tile formats are made from.
#pragma once

#include "runtime/cuda/convert/bits.hpp"
#include "runtime/cuda/convert/entry_key.hpp"
#include "runtime/cuda/convert/format_memory.hpp"

namespace sptile::runtime::cuda {

/// Entries sorted by window, column and row; a distinct column of a window is a run of them. Columns are
/// numbered through the whole matrix.
struct Columns {
  EntryKey key;
  std::int64_t entries = 0, windows = 0;
  const std::uint64_t* keys = nullptr;    ///< entries
  const std::uint32_t* from = nullptr;    ///< entries: where they stand in the CSR matrix
  const std::uint32_t* before = nullptr;  ///< entries + 1: columns that start in front of each entry
  const std::uint32_t* first = nullptr;   ///< windows + 1: first column of each window

  SPTILE_HOST_DEVICE bool starts(std::int64_t entry) const { return before[entry + 1] != before[entry]; }
  SPTILE_HOST_DEVICE std::int64_t column(std::int64_t entry) const {
    return std::int64_t{before[entry + 1]} - 1;
  }
  SPTILE_HOST_DEVICE std::int64_t window(std::int64_t entry) const { return key.window(keys[entry]); }
  /// The number of a column in its window.
  SPTILE_HOST_DEVICE std::int64_t place(std::int64_t entry) const {
    return column(entry) - first[window(entry)];
  }
};

struct ColumnsRoom {
  SortBuffers sort;
  std::uint32_t* before = nullptr;
  std::uint32_t* first = nullptr;

  void place(Arena& arena, std::int64_t entries, std::int64_t windows) {
    sort.place(arena, entries);
    arena.take(before, entries + 1);
    arena.take(first, windows + 1);
  }
};

/// Windows of 2^bits rows.
struct FixedWindows {
  int bits = 0;

  SPTILE_HOST_DEVICE std::int64_t window(std::int64_t row) const { return row >> bits; }
  SPTILE_HOST_DEVICE std::int64_t row(std::int64_t r) const { return r & ((std::int64_t{1} << bits) - 1); }
};

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

/// 1 for each entry that starts a column.
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
  const std::uint32_t* before;
  std::uint32_t* first;

  SPTILE_HOST_DEVICE void operator()(std::int64_t window) const {
    first[window] = before[lower_bound(keys, entries, key.make(window, 0, 0))];
  }
};

/// Sorts all entries of a good matrix and numbers the columns of `windows` windows. Entries past `entries`
/// are in rows that are in no window: their window is number `windows`. A pass over the entries for keys (16
/// bytes each), one of 24 bytes for each 8 bits of window and column, and two (24 bytes) to number: about 160
/// bytes of memory traffic per entry.
template <class Run, class Windows>
Columns find_columns(Run& run, const DeviceCsr& csr, const Windows& of_row, std::int64_t windows,
                     int row_bits, std::int64_t entries, ColumnsRoom& room) {
  const EntryKey key{bits_for(csr.cols - 1), row_bits};
  const std::int64_t last_window = entries < csr.nnz ? windows : windows - 1;
  run.each(csr.nnz, MakeKeys<Windows>{csr.row_ptr, csr.col_idx, csr.rows, of_row, key, room.sort.keys,
                                      room.sort.items});
  run.sort(room.sort, csr.nnz, row_bits, row_bits + key.column_bits + bits_for(last_window));
  run.each(entries + 1, MarkColumns{key, room.sort.keys, entries, room.before});
  run.sum(room.before, entries + 1);
  run.each(windows + 1, FindFirstColumns{key, room.sort.keys, entries, room.before, room.first});
  return {key, entries, windows, room.sort.keys, room.sort.items, room.before, room.first};
}

/// Tiles of 8 columns that each window needs; behind them a 0.
struct CountTiles {
  const std::uint32_t* first;  ///< of Columns
  std::int64_t windows;
  std::uint32_t* tiles;

  SPTILE_HOST_DEVICE void operator()(std::int64_t window) const {
    tiles[window] = window < windows ? (first[window + 1] - first[window] + 7) / 8 : 0;
  }
};

/// First tile of each window: windows + 1 offsets.
template <class Run>
void number_tiles(Run& run, const Columns& columns, std::uint32_t* offset) {
  run.each(columns.windows + 1, CountTiles{columns.first, columns.windows, offset});
  run.sum(offset, columns.windows + 1);
}

}  // namespace sptile::runtime::cuda
