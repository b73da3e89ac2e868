// libra_spmm on the device (Libra, section 4.2): dense columns of a window to tiles, the rest to rows.
#pragma once

#include <utility>

#include "formats/layout/libra_spmm.hpp"
#include "runtime/cuda/convert/libra_choice.hpp"
#include "runtime/cuda/convert/tiles.hpp"

namespace sptile::runtime::cuda {

/// Entries of each column, and columns of each window by their entries.
struct CountColumnEntries {
  Columns columns;
  std::uint8_t* counts;
  std::uint32_t* histogram;  ///< kLibraCounts for each window

  SPTILE_HOST_DEVICE void operator()(std::int64_t entry) const {
    if (!columns.starts(entry)) return;
    std::int64_t end = entry + 1;
    while (end < columns.entries && !columns.starts(end)) ++end;
    const auto count = static_cast<std::uint8_t>(end - entry);
    counts[columns.column(entry)] = count;
    atomic_add(histogram + kLibraCounts * columns.window(entry) + count, 1);
  }
};

/// What is chosen in each window, and its tiles; behind them a 0.
struct ChooseColumns {
  static constexpr int kDense = 0, kFilled = 1, kEntries = 2, kSums = 3;
  const std::uint32_t* histogram;
  std::int64_t windows;
  int threshold;
  LibraChoice* choice;
  std::uint32_t* tiles;
  SpreadSums sums;

  SPTILE_HOST_DEVICE void operator()(std::int64_t window) const {
    tiles[window] = 0;
    if (window == windows) return;
    const LibraSums all = choose_columns(histogram + kLibraCounts * window, threshold, choice[window]);
    tiles[window] = (all.dense + all.filled + 7) / 8;
    sums.add(kDense, window, all.dense);
    sums.add(kFilled, window, all.filled);
    sums.add(kEntries, window, all.entries);
  }
};

/// 1 for each column that is as dense as the least dense ones that are chosen; behind them a 0.
struct MarkEquals {
  Columns columns;
  const std::uint8_t* counts;
  const LibraChoice* choice;
  std::uint32_t* marks;

  SPTILE_HOST_DEVICE void operator()(std::int64_t entry) const {
    if (!columns.starts(entry)) return;
    const std::int64_t column = columns.column(entry);
    marks[column] = choice[columns.window(entry)].some_of(counts[column]);
  }
};

/// 1 for each chosen column.
struct MarkChosen {
  Columns columns;
  const std::uint8_t* counts;
  const LibraChoice* choice;
  const std::uint32_t* equals;  ///< in front of each column
  std::uint32_t* marks;

  SPTILE_HOST_DEVICE void operator()(std::int64_t entry) const {
    if (!columns.starts(entry)) return;
    const std::int64_t column = columns.column(entry), window = columns.window(entry);
    const std::uint32_t in_front = equals[column] - equals[columns.first[window]];
    marks[column] = choice[window].takes(counts[column], in_front);
  }
};

/// The chosen columns of a window stand in its tiles, in their order.
struct ChosenSlots {
  Columns columns;
  const std::uint32_t *chosen, *tiles;  ///< chosen columns in front of each column; first tile of each window

  SPTILE_HOST_DEVICE std::int64_t slot(std::int64_t entry) const {
    const std::int64_t column = columns.column(entry);
    if (chosen[column + 1] == chosen[column]) return -1;
    const std::int64_t window = columns.window(entry);
    return std::int64_t{8} * tiles[window] + chosen[column] - chosen[columns.first[window]];
  }
};

/// 1 for each entry of the CSR matrix that is in no tile.
struct MarkResidual {
  ChosenSlots slots;
  std::uint32_t* marks;

  SPTILE_HOST_DEVICE void operator()(std::int64_t entry) const {
    const std::int64_t column = slots.columns.column(entry);
    marks[slots.columns.from[entry]] = slots.chosen[column + 1] == slots.chosen[column];
  }
};

/// 1 for each row with residual entries; behind them a 0.
struct MarkResidualRows {
  const std::int64_t* row_ptr;
  const std::uint32_t* residual;  ///< in front of each entry
  std::int64_t rows;
  std::uint32_t* marks;

  SPTILE_HOST_DEVICE void operator()(std::int64_t row) const {
    marks[row] = row < rows && residual[row_ptr[row]] != residual[row_ptr[row + 1]];
  }
};

struct WriteResidualRows {
  const std::int64_t* row_ptr;
  const std::uint32_t *residual, *residual_rows;  ///< in front of each entry, each row
  std::int64_t rows;
  std::int32_t* row_id;
  std::int64_t* offset;

  SPTILE_HOST_DEVICE void operator()(std::int64_t row) const {
    const std::uint32_t to = residual_rows[row];
    if (row == rows) {
      offset[to] = residual[row_ptr[row]];
    } else if (residual_rows[row + 1] != to) {
      row_id[to] = static_cast<std::int32_t>(row);
      offset[to] = residual[row_ptr[row]];
    }
  }
};

/// Writes an array of the residual part: what the residual entries have there, in their order.
template <class T>
struct TakeResidual {
  const std::uint32_t* residual;
  const T* from;
  T* to;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    if (residual[i + 1] != residual[i]) to[residual[i]] = from[i];
  }
};

/// Writes the numbers of the chosen columns; the last one of a window is repeated to the end of its tile.
struct NumberChosen {
  ChosenSlots slots;
  std::int32_t* col_id;

  SPTILE_HOST_DEVICE void operator()(std::int64_t entry) const {
    const Columns& columns = slots.columns;
    if (!columns.starts(entry)) return;
    const std::int64_t slot = slots.slot(entry);
    if (slot < 0) return;
    const std::int64_t next = columns.first[columns.window(entry) + 1];
    const bool last = slots.chosen[columns.column(entry) + 1] == slots.chosen[next];
    const std::int64_t end = last ? slot / 8 * 8 + 8 : slot + 1;
    for (std::int64_t s = slot; s < end; ++s) col_id[s] = columns.key.column(columns.keys[entry]);
  }
};

struct LibraRoom {
  ColumnsRoom columns;
  std::uint8_t* counts = nullptr;
  LibraChoice* choice = nullptr;
  std::uint32_t *histogram = nullptr, *tiles = nullptr, *equals = nullptr, *chosen = nullptr,
                *residual = nullptr, *residual_rows = nullptr;
  std::uint64_t* sums = nullptr;

  void place(Arena& arena, std::int64_t entries, std::int64_t windows, std::int64_t rows,
             std::int64_t sums_size) {
    columns.place(arena, entries, windows);
    arena.take(counts, entries);
    arena.take(choice, windows);
    arena.take(histogram, kLibraCounts * windows);
    arena.take(tiles, windows + 1);
    arena.take(equals, entries + 1);
    arena.take(chosen, entries + 1);
    arena.take(residual, entries + 1);
    arena.take(residual_rows, rows + 1);
    arena.take(sums, sums_size);
  }
};

/// Chooses the columns of all windows.
template <class Run>
void choose_all(Run& run, const DeviceCsr& csr, const Columns& columns, int threshold, const SpreadSums& sums,
                LibraRoom& room) {
  const auto clear = [&](std::uint32_t* marks, std::int64_t count) {
    run.clear(marks, static_cast<std::size_t>(count) * sizeof *marks);
  };
  clear(room.histogram, kLibraCounts * columns.windows);
  clear(room.equals, csr.nnz + 1);
  clear(room.chosen, csr.nnz + 1);
  clear(room.residual + csr.nnz, 1);
  run.clear(sums.sums, static_cast<std::size_t>(sums.size()) * sizeof *sums.sums);
  run.each(csr.nnz, CountColumnEntries{columns, room.counts, room.histogram});
  run.each(columns.windows + 1,
           ChooseColumns{room.histogram, columns.windows, threshold, room.choice, room.tiles, sums});
  run.sum(room.tiles, columns.windows + 1);
  run.each(csr.nnz, MarkEquals{columns, room.counts, room.choice, room.equals});
  run.sum(room.equals, csr.nnz + 1);
  run.each(csr.nnz, MarkChosen{columns, room.counts, room.choice, room.equals, room.chosen});
  run.sum(room.chosen, csr.nnz + 1);
  run.each(csr.nnz, MarkResidual{{columns, room.chosen, room.tiles}, room.residual});
  run.sum(room.residual, csr.nnz + 1);
  run.each(csr.rows + 1, MarkResidualRows{csr.row_ptr, room.residual, csr.rows, room.residual_rows});
  run.sum(room.residual_rows, csr.rows + 1);
}

/// Writes the four arrays of the residual part, from `first` of the format on.
template <class Run>
void write_libra_residual(Run& run, const DeviceCsr& csr, const LibraRoom& room, int first,
                          const DeviceFormat& format) {
  run.each(csr.rows + 1, WriteResidualRows{csr.row_ptr, room.residual, room.residual_rows, csr.rows,
                                           array_of<std::int32_t>(format, first),
                                           array_of<std::int64_t>(format, first + 1)});
  run.each(csr.nnz,
           TakeResidual<std::int32_t>{room.residual, csr.col_idx, array_of<std::int32_t>(format, first + 2)});
  visit_value_word(csr.value_dtype, [&](auto word) {
    using Word = decltype(word);
    run.each(csr.nnz, TakeResidual<Word>{room.residual, static_cast<const Word*>(csr.values),
                                         array_of<Word>(format, first + 3)});
  });
}

/// About 100 bytes of traffic per entry on top of find_columns; waits once.
template <class Run>
Result<DeviceFormat> libra_spmm_on(Run& run, const DeviceCsr& csr, int threshold) {
  const std::int64_t windows = (csr.rows + 7) / 8;
  Room<LibraRoom> room;
  SpreadSums sums{nullptr, ChooseColumns::kSums};
  if (Status s = room.make(run, csr.nnz, windows, csr.rows, sums.size()); !s)
    return tl::unexpected(s.error());
  sums.sums = room.sums;
  const Columns columns = find_columns(run, csr, FixedWindows{3}, windows, 3, csr.nnz, room.columns);
  choose_all(run, csr, columns, threshold, sums, room);
  std::uint32_t tiles = 0, rows = 0;
  std::vector<std::uint64_t> fetched(static_cast<std::size_t>(sums.size()));
  run.fetch(&tiles, room.tiles + windows, 1);
  run.fetch(&rows, room.residual_rows + csr.rows, 1);
  run.fetch(fetched.data(), sums.sums, sums.size());
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  const std::int64_t entries = SpreadSums::total(fetched, ChooseColumns::kEntries);
  const std::int64_t residual = csr.nnz - entries;

  auto format = make_format(run, formats::kLibraSpmmLayout, csr,
                            {windows + 1, std::int64_t{tiles} + 1, tiles, std::int64_t{8} * tiles, entries,
                             rows, std::int64_t{rows} + 1, residual, residual});
  if (!format) return format;
  const ChosenSlots slots{columns, room.chosen, room.tiles};
  const TilePlaces<ChosenSlots> places{slots, 1};
  auto* const offset = array_of<std::uint32_t>(*format, 1);
  auto* const masks = array_of<std::uint64_t>(*format, 2);
  run.copy(array_of<void>(*format, 0), room.tiles,
           static_cast<std::size_t>(windows + 1) * sizeof(std::uint32_t));
  set_masks(run, places, csr.nnz, masks, tiles, offset);
  run.each(csr.nnz, NumberChosen{slots, array_of<std::int32_t>(*format, 3)});
  move_values(run, csr, columns, places, BitOrder{masks, offset}, array_of<void>(*format, 4));
  write_libra_residual(run, csr, room, 5, *format);
  format->parameters = {{"window_rows", std::int64_t{8}},
                        {"threshold", std::int64_t{threshold}},
                        {"dense_columns", SpreadSums::total(fetched, ChooseColumns::kDense)},
                        {"filled_columns", SpreadSums::total(fetched, ChooseColumns::kFilled)}};
  return run.finish(std::move(*format));
}

}  // namespace sptile::runtime::cuda
