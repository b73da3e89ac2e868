// Distinct columns of every window, computed on the device: the basis of all tile formats.
#pragma once

#include "runtime/cuda/convert/column_bits.hpp"
#include "runtime/cuda/convert/column_rank.hpp"
#include "runtime/cuda/convert/column_sort.hpp"
#include "runtime/cuda/convert/csr_rows.hpp"

namespace sptile::runtime::cuda {

/// Windows of 2^bits rows.
struct FixedWindows {
  int bits = 0;

  SPTILE_HOST_DEVICE std::int64_t window(std::int64_t row) const { return row >> bits; }
  SPTILE_HOST_DEVICE std::int64_t row(std::int64_t r) const { return r & ((std::int64_t{1} << bits) - 1); }
  SPTILE_HOST_DEVICE std::int64_t begin(std::int64_t window) const { return window << bits; }
  SPTILE_HOST_DEVICE std::int64_t end(std::int64_t window) const { return (window + 1) << bits; }
  [[nodiscard]] int row_bits() const { return bits; }
};

/// Numbers of the columns of each window, in ascending order. Of_row maps consecutive rows to windows:
/// window(row) is the window, or the number of windows if the row is in none; row(row) is the row in the
/// window; begin(window) and end(window) are its rows, and end may exceed the number of rows.
template <class Windows>
struct Columns {
  CsrRows rows;
  Windows of_row;
  std::int64_t windows = 0;
  const std::uint32_t* place = nullptr;  ///< for each CSR entry: number of its column in its window
  const std::int32_t* ids = nullptr;     ///< entries
  const std::uint32_t* first = nullptr;  ///< windows + 1: columns before each window

  /// Returns the index of an entry's column among the columns of all windows.
  SPTILE_HOST_DEVICE std::int64_t column(std::int64_t entry, std::int64_t row) const {
    return std::int64_t{first[of_row.window(row)]} + place[entry];
  }
  SPTILE_HOST_DEVICE std::int64_t window_of_column(std::int64_t column) const {
    return last_at_most(first, windows, column);
  }
  /// Returns the column id of column `number` of a window.
  SPTILE_HOST_DEVICE std::int32_t id(std::int64_t window, std::int64_t number) const {
    return ids[rows.row_ptr[of_row.begin(window)] + number];
  }
};

/// Totals over all windows.
struct WindowSizes {
  std::uint64_t rounds = 0;     ///< rounds of NumberByBits
  std::uint32_t too_large = 0;  ///< 1 if a window is too large for one block
};

struct ColumnsWorkspace {
  std::uint32_t* place_of = nullptr;
  std::int32_t* ids = nullptr;
  std::uint32_t* first = nullptr;
  ColumnRange* ranges = nullptr;
  WindowSizes* sizes = nullptr;

  void place(Arena& arena, std::int64_t entries, std::int64_t windows) {
    arena.take(place_of, entries);
    arena.take(ids, entries);
    arena.take(first, windows + 1);
    arena.take(ranges, windows);
    arena.take(sizes, 1);
  }
};

/// Finds the column ranges of windows and adds up their sizes.
template <class Windows>
struct MeasureWindows {
  NumberByBits<Windows> step;
  std::int64_t max;  ///< maximum entries that one block may read, over all rounds
  WindowSizes* sizes;

  SPTILE_HOST_DEVICE void operator()(std::int64_t window) const {
    step.find_range(window);
    const std::int64_t rounds = step.rounds(window);
    atomic_add(&sizes->rounds, static_cast<std::uint64_t>(rounds));
    if (rounds * (step.end(window) - step.begin(window)) > max) atomic_or(&sizes->too_large, 1);
  }
};

/// Numbers every entry in a window and every column; see Columns. About 12 bytes of memory traffic per entry.
template <class Run, class Windows>
void number_by_bits(Run& run, const NumberByBits<Windows>& step, std::int64_t windows) {
  run.clear(step.columns, static_cast<std::size_t>(windows + 1) * sizeof *step.columns);
  run.blocks(windows, step);
  run.sum(step.columns, windows + 1);
}

/// Computes the cost of number_by_bits and the column ranges. Synchronizes.
template <class Run, class Windows>
WindowSizes measure_windows(Run& run, const NumberByBits<Windows>& step, std::int64_t windows,
                            std::int64_t max, WindowSizes* workspace) {
  WindowSizes sizes;
  run.clear(workspace, sizeof *workspace);
  run.each(windows, MeasureWindows<Windows>{step, max, workspace});
  run.download(&sizes, workspace, 1);
  return sizes;
}

/// Numbers the columns of the windows of a valid matrix. `entries`: nonzeros in rows that are in a window.
template <class Run, class Windows>
Result<Columns<Windows>> find_columns(Run& run, const DeviceCsr& csr, const Windows& of_row,
                                      std::int64_t windows, std::int64_t entries,
                                      ColumnsWorkspace& workspace) {
  // kRoundEntries: cost of a round, in entries of the alternative methods. kMaxEntries of a window take one
  // block a millisecond. Windows of more than 2^kRankBits rows are too high to search every row. Below
  // kFewEntries, searching is faster than measuring.
  constexpr std::int64_t kRoundEntries = 64, kMaxEntries = 1 << 20, kRankBits = 4, kFewEntries = 1 << 17;
  const NumberByBits<Windows> bits{csr.row_ptr,      csr.col_idx,        csr.rows,      of_row,
                                   workspace.ranges, workspace.place_of, workspace.ids, workspace.first};
  const bool low = of_row.row_bits() <= kRankBits, few = low && entries <= kFewEntries;
  const WindowSizes sizes =
      few ? WindowSizes{} : measure_windows(run, bits, windows, kMaxEntries, workspace.sizes);
  const bool sparse = static_cast<std::int64_t>(sizes.rounds) * kRoundEntries > entries;
  Status status;
  if (few || (sparse && low))
    status = number_by_rank(run, csr, of_row, windows, workspace.place_of, workspace.ids, workspace.first);
  else if (sparse || sizes.too_large != 0)
    status = number_by_sort(run, csr, of_row, windows, entries, workspace.place_of, workspace.ids,
                            workspace.first);
  else
    number_by_bits(run, bits, windows);
  if (!status) return tl::unexpected(status.error());
  return Columns<Windows>{
      {csr.row_ptr, csr.rows, csr.nnz}, of_row, windows, workspace.place_of, workspace.ids, workspace.first};
}

/// Computes the number of 8-column tiles of each window, and a final 0.
struct CountTiles {
  const std::uint32_t* first;  ///< see Columns
  std::int64_t windows;
  std::uint32_t* tiles;

  SPTILE_HOST_DEVICE void operator()(std::int64_t window) const {
    tiles[window] = window < windows ? (first[window + 1] - first[window] + 7) / 8 : 0;
  }
};

/// Computes the first tile of each window: windows + 1 offsets.
template <class Run, class Windows>
void number_tiles(Run& run, const Columns<Windows>& columns, std::uint32_t* offset) {
  run.each(columns.windows + 1, CountTiles{columns.first, columns.windows, offset});
  run.sum(offset, columns.windows + 1);
}

}  // namespace sptile::runtime::cuda
