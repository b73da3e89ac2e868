// libra_spmm and libra_sddmm on the device (Libra, section 4.2): dense columns of a window to tiles, the rest
// to rows.
#pragma once

#include <utility>

#include "formats/layout/libra_rules.hpp"
#include "runtime/cuda/convert/libra_choice.hpp"
#include "runtime/cuda/convert/tiles.hpp"

namespace sptile::runtime::cuda {

/// The columns of the windows of 8 rows.
using LibraColumns = Columns<FixedWindows>;

/// Entries of each column; the counts are clear.
struct CountColumnEntries {
  LibraColumns columns;
  std::uint32_t* counts;  ///< four bytes, that never overflow, in each

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    columns.rows.visit_apart(step, [&](std::int64_t entry, std::int64_t row) {
      const std::int64_t column = columns.column(entry, row);
      atomic_add(counts + column / 4, 1u << (8 * (column % 4)));
    });
  }
};

/// Columns of each window by their entries; the histogram is clear.
struct CountColumns {
  LibraColumns columns;
  const std::uint8_t* counts;
  std::uint32_t* histogram;  ///< kLibraCounts for each window

  SPTILE_HOST_DEVICE void operator()(std::int64_t column) const {
    atomic_add(histogram + kLibraCounts * columns.window_of_column(column) + counts[column], 1);
  }
};

/// What is chosen in each window: its tiles, behind them a 0, and its columns in them.
struct ChooseColumns {
  static constexpr int kDense = 0, kFilled = 1, kEntries = 2, kSums = 3;
  const std::uint32_t* histogram;
  std::int64_t windows;
  LibraRule rule;
  LibraChoice* choice;
  std::uint32_t* tiles;
  SpreadSums sums;

  SPTILE_HOST_DEVICE void operator()(std::int64_t window) const {
    tiles[window] = 0;
    if (window == windows) return;
    const LibraSums all = rule.choose(histogram + kLibraCounts * window, choice[window]);
    tiles[window] = rule.tiles(choice[window].columns);
    sums.add(kDense, window, all.dense);
    sums.add(kFilled, window, all.filled);
    sums.add(kEntries, window, all.entries);
  }
};

/// 1 for each column that is as dense as the least dense ones that are chosen; behind them a 0.
struct MarkEquals {
  LibraColumns columns;
  const std::uint8_t* counts;
  const LibraChoice* choice;
  std::uint32_t* marks;

  SPTILE_HOST_DEVICE void operator()(std::int64_t column) const {
    marks[column] = choice[columns.window_of_column(column)].some_of(counts[column]);
  }
};

/// 1 for each chosen column.
struct MarkChosen {
  LibraColumns columns;
  const std::uint8_t* counts;
  const LibraChoice* choice;
  const std::uint32_t* equals;  ///< in front of each column
  std::uint32_t* marks;

  SPTILE_HOST_DEVICE void operator()(std::int64_t column) const {
    const std::int64_t window = columns.window_of_column(column);
    const std::uint32_t in_front = equals[column] - equals[columns.first[window]];
    marks[column] = choice[window].takes(counts[column], in_front);
  }
};

inline constexpr std::uint32_t kNoSlot = 0xFFFFFFFF;

/// The chosen columns of a window stand in its tiles, in their order.
struct SlotColumns {
  LibraColumns columns;
  const std::uint32_t *chosen, *tiles;  ///< chosen columns in front of each column; first tile of each window
  std::uint32_t* slot;

  SPTILE_HOST_DEVICE void operator()(std::int64_t column) const {
    const std::int64_t window = columns.window_of_column(column);
    slot[column] = chosen[column + 1] == chosen[column]
                       ? kNoSlot
                       : 8 * tiles[window] + chosen[column] - chosen[columns.first[window]];
  }
};

/// For each column: window and entries, densest first, as a key; the column as item.
struct KeyByDensity {
  LibraColumns columns;
  const std::uint8_t* counts;
  std::uint64_t* keys;
  std::uint32_t* items;

  SPTILE_HOST_DEVICE void operator()(std::int64_t column) const {
    keys[column] = static_cast<std::uint64_t>(columns.window_of_column(column)) << 4 |
                   static_cast<std::uint64_t>(kLibraCounts - 1 - counts[column]);
    items[column] = static_cast<std::uint32_t>(column);
  }
};

/// The chosen columns of a window stand in its tiles, densest first; they are the first of the sorted ones.
struct SlotByDensity {
  const std::uint64_t* keys;
  const std::uint32_t* items;
  const std::uint32_t* first;  ///< of Columns
  const LibraChoice* choice;
  const std::uint32_t* tiles;
  std::uint32_t* slot;

  SPTILE_HOST_DEVICE void operator()(std::int64_t sorted) const {
    const auto window = static_cast<std::int64_t>(keys[sorted] >> 4);
    const auto place = static_cast<std::uint32_t>(sorted) - first[window];
    slot[items[sorted]] = place < choice[window].columns ? 8 * tiles[window] + place : kNoSlot;
  }
};

/// Slots that were listed for each column.
struct ListedSlots {
  LibraColumns columns;
  const std::uint32_t* listed;

  SPTILE_HOST_DEVICE std::int64_t slot(std::int64_t entry, std::int64_t row) const {
    const std::uint32_t slot = listed[columns.column(entry, row)];
    return slot == kNoSlot ? -1 : std::int64_t{slot};
  }
};

/// 1 for each entry of the CSR matrix that is in no tile.
struct MarkResidual {
  ListedSlots slots;
  std::uint32_t* marks;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    slots.columns.rows.visit_apart(
        step, [&](std::int64_t entry, std::int64_t row) { marks[entry] = slots.slot(entry, row) < 0; });
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

/// Writes the numbers of the chosen columns; the last one of a window is repeated to the end of its tiles.
struct NumberChosen {
  ListedSlots slots;
  const LibraChoice* choice;
  const std::uint32_t* tiles;
  std::int32_t* col_id;

  SPTILE_HOST_DEVICE void operator()(std::int64_t column) const {
    const std::int64_t slot = slots.listed[column];
    if (slot == kNoSlot) return;
    const LibraColumns& columns = slots.columns;
    const std::int64_t window = columns.window_of_column(column);
    const bool last = slot + 1 == std::int64_t{8} * tiles[window] + choice[window].columns;
    const std::int64_t end = last ? std::int64_t{8} * tiles[window + 1] : slot + 1;
    const std::int32_t id = columns.id(window, column - columns.first[window]);
    for (std::int64_t s = slot; s < end; ++s) col_id[s] = id;
  }
};

struct LibraRoom {
  ColumnsRoom columns;
  std::uint32_t* packed_counts = nullptr;
  LibraChoice* choice = nullptr;
  std::uint32_t *histogram = nullptr, *tiles = nullptr, *slot = nullptr, *residual = nullptr,
                *residual_rows = nullptr;
  std::uint64_t* sums = nullptr;

  void place(Arena& arena, std::int64_t entries, std::int64_t windows, std::int64_t rows,
             std::int64_t sums_size) {
    columns.place(arena, entries, windows);
    arena.take(packed_counts, (entries + 3) / 4);
    arena.take(choice, windows);
    arena.take(histogram, kLibraCounts * windows);
    arena.take(tiles, windows + 1);
    arena.take(slot, entries);
    arena.take(residual, entries + 1);
    arena.take(residual_rows, rows + 1);
    arena.take(sums, sums_size);
  }
  /// Entries of each column; hosts and devices have the lowest byte of a word first.
  [[nodiscard]] const std::uint8_t* counts() const {
    return reinterpret_cast<const std::uint8_t*>(packed_counts);
  }
};

/// For slots in the order of columns.
struct ChosenRoom {
  std::uint32_t *equals = nullptr, *chosen = nullptr;

  void place(Arena& arena, std::int64_t columns) {
    arena.take(equals, columns + 1);
    arena.take(chosen, columns + 1);
  }
};

/// For slots in the order of density.
struct DensityRoom {
  SortBuffers sort;

  void place(Arena& arena, std::int64_t columns) { sort.place(arena, columns); }
};

/// Gives the chosen columns, of `count` ones, slots in their order.
template <class Run>
Status slot_columns(Run& run, const LibraColumns& columns, std::int64_t count, const LibraRoom& room) {
  Room<ChosenRoom> chosen;
  if (Status s = chosen.make(run, count); !s) return s;
  run.clear(chosen.equals + count, sizeof *chosen.equals);
  run.clear(chosen.chosen + count, sizeof *chosen.chosen);
  run.each(count, MarkEquals{columns, room.counts(), room.choice, chosen.equals});
  run.sum(chosen.equals, count + 1);
  run.each(count, MarkChosen{columns, room.counts(), room.choice, chosen.equals, chosen.chosen});
  run.sum(chosen.chosen, count + 1);
  run.each(count, SlotColumns{columns, chosen.chosen, room.tiles, room.slot});
  return run.status();
}

/// The same by density.
template <class Run>
Status slot_by_density(Run& run, const LibraColumns& columns, std::int64_t count, const LibraRoom& room) {
  Room<DensityRoom> density;
  if (Status s = density.make(run, count); !s) return s;
  run.each(count, KeyByDensity{columns, room.counts(), density.sort.keys, density.sort.items});
  run.sort(density.sort, count, 0, 4 + bits_for(columns.windows - 1));
  run.each(count, SlotByDensity{density.sort.keys, density.sort.items, columns.first, room.choice, room.tiles,
                                room.slot});
  return run.status();
}

/// Chooses the columns of all windows and numbers what is not chosen.
template <class Run>
Status choose_all(Run& run, const DeviceCsr& csr, const LibraColumns& columns, const LibraRule& rule,
                  const SpreadSums& sums, const LibraRoom& room) {
  std::uint32_t count = 0;
  run.fetch(&count, columns.first + columns.windows, 1);
  if (Status s = run.status(); !s) return s;
  run.clear(room.packed_counts, static_cast<std::size_t>(count + std::int64_t{3}) / 4 * 4);
  run.clear(room.histogram,
            static_cast<std::size_t>(kLibraCounts * columns.windows) * sizeof *room.histogram);
  run.clear(sums.sums, static_cast<std::size_t>(sums.size()) * sizeof *sums.sums);
  run.each(columns.rows.steps_apart(), CountColumnEntries{columns, room.packed_counts});
  run.each(count, CountColumns{columns, room.counts(), room.histogram});
  run.each(columns.windows + 1,
           ChooseColumns{room.histogram, columns.windows, rule, room.choice, room.tiles, sums});
  run.sum(room.tiles, columns.windows + 1);
  if (Status s = rule.by_density ? slot_by_density(run, columns, count, room)
                                 : slot_columns(run, columns, count, room);
      !s)
    return s;
  run.clear(room.residual + csr.nnz, sizeof *room.residual);
  run.each(columns.rows.steps_apart(), MarkResidual{{columns, room.slot}, room.residual});
  run.sum(room.residual, csr.nnz + 1);
  run.each(csr.rows + 1, MarkResidualRows{csr.row_ptr, room.residual, csr.rows, room.residual_rows});
  run.sum(room.residual_rows, csr.rows + 1);
  return {};
}

/// Writes the four arrays of the residual part.
template <class Run>
void write_libra_residual(Run& run, const DeviceCsr& csr, const LibraRoom& room, const DeviceFormat& format) {
  run.each(csr.rows + 1,
           WriteResidualRows{csr.row_ptr, room.residual, room.residual_rows, csr.rows,
                             array_of<std::int32_t>(format, 5), array_of<std::int64_t>(format, 6)});
  run.each(csr.nnz,
           TakeResidual<std::int32_t>{room.residual, csr.col_idx, array_of<std::int32_t>(format, 7)});
  visit_value_word(csr.value_dtype, [&](auto word) {
    using Word = decltype(word);
    run.each(csr.nnz, TakeResidual<Word>{room.residual, static_cast<const Word*>(csr.values),
                                         array_of<Word>(format, 8)});
  });
}

/// About 100 bytes of traffic per entry on top of find_columns; waits four times.
template <class Run>
Result<DeviceFormat> libra_on(Run& run, const DeviceCsr& csr, const formats::FormatLayout& layout,
                              formats::LibraSetting setting) {
  if (Status s = formats::check_libra_setting(layout, setting); !s) return tl::unexpected(s.error());
  const bool sddmm = &layout == &formats::kLibraSddmmLayout;
  const LibraRule rule{setting.threshold, setting.block_columns, sddmm};
  const std::int64_t windows = (csr.rows + 7) / 8;
  Room<LibraRoom> room;
  SpreadSums sums{nullptr, ChooseColumns::kSums};
  if (Status s = room.make(run, csr.nnz, windows, csr.rows, sums.size()); !s)
    return tl::unexpected(s.error());
  sums.sums = room.sums;
  const auto columns = find_columns(run, csr, FixedWindows{3}, windows, csr.nnz, room.columns);
  if (!columns) return tl::unexpected(columns.error());
  if (Status s = choose_all(run, csr, *columns, rule, sums, room); !s) return tl::unexpected(s.error());
  std::uint32_t count = 0, tiles = 0, rows = 0;
  std::vector<std::uint64_t> fetched(static_cast<std::size_t>(sums.size()));
  run.fetch(&count, columns->first + windows, 1);
  run.fetch(&tiles, room.tiles + windows, 1);
  run.fetch(&rows, room.residual_rows + csr.rows, 1);
  run.fetch(fetched.data(), sums.sums, sums.size());
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  const std::int64_t entries = SpreadSums::total(fetched, ChooseColumns::kEntries);
  const std::int64_t residual = csr.nnz - entries;

  auto format = make_format(run, layout, csr,
                            {windows + 1, std::int64_t{tiles} + 1, tiles, std::int64_t{8} * tiles, entries,
                             rows, std::int64_t{rows} + 1, residual, residual});
  if (!format) return format;
  const ListedSlots slots{*columns, room.slot};
  const TilePlaces<ListedSlots> places{slots, 1};
  auto* const offset = array_of<std::uint32_t>(*format, 1);
  auto* const masks = array_of<std::uint64_t>(*format, 2);
  run.copy(array_of<void>(*format, 0), room.tiles,
           static_cast<std::size_t>(windows + 1) * sizeof(std::uint32_t));
  set_masks(run, columns->rows, places, masks, tiles, offset);
  run.each(count, NumberChosen{slots, room.choice, room.tiles, array_of<std::int32_t>(*format, 3)});
  move_values(run, csr, columns->rows, places, BitOrder{masks, offset}, array_of<void>(*format, 4));
  write_libra_residual(run, csr, room, *format);
  format->parameters = formats::libra_parameters(setting, SpreadSums::total(fetched, ChooseColumns::kDense),
                                                 SpreadSums::total(fetched, ChooseColumns::kFilled));
  return run.finish(std::move(*format));
}

}  // namespace sptile::runtime::cuda
