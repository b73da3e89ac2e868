// Conversion to libra_spmm and libra_sddmm on the device (Libra, section 4.2).
#pragma once

#include <utility>

#include "formats/layout/libra_rules.hpp"
#include "runtime/cuda/convert/libra_slots.hpp"
#include "runtime/cuda/convert/tiles.hpp"

namespace sptile::runtime::cuda {

/// Columns of the windows of 8 rows.
using LibraColumns = Columns<FixedWindows>;

/// Counts the entries of each column; `counts` must be zero.
struct CountColumnEntries {
  LibraColumns columns;
  std::uint32_t* counts;  ///< four 8-bit counters per word, which cannot overflow

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    columns.rows.visit_apart(step, [&](std::int64_t entry, std::int64_t row) {
      const std::int64_t column = columns.column(entry, row);
      atomic_add(counts + column / 4, 1u << (8 * (column % 4)));
    });
  }
};

/// Chooses the columns of each window: writes the numbers of tiles, a final 0, and the columns in tiles.
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

/// Slots listed per column.
struct ListedSlots {
  LibraColumns columns;
  const std::uint32_t* listed;

  SPTILE_HOST_DEVICE std::int64_t slot(std::int64_t entry, std::int64_t row) const {
    const std::uint32_t slot = listed[columns.column(entry, row)];
    return slot == kNoSlot ? -1 : std::int64_t{slot};
  }
};

/// Writes 1 for each CSR entry that is in no tile.
struct MarkResidual {
  ListedSlots slots;
  std::uint32_t* marks;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    slots.columns.rows.visit_apart(
        step, [&](std::int64_t entry, std::int64_t row) { marks[entry] = slots.slot(entry, row) < 0; });
  }
};

/// Writes 1 for each row with residual entries, and a final 0.
struct MarkResidualRows {
  const std::int64_t* row_ptr;
  const std::uint32_t* residual;  ///< residual entries before each entry
  std::int64_t rows;
  std::uint32_t* marks;

  SPTILE_HOST_DEVICE void operator()(std::int64_t row) const {
    marks[row] = row < rows && residual[row_ptr[row]] != residual[row_ptr[row + 1]];
  }
};

struct WriteResidualRows {
  const std::int64_t* row_ptr;
  const std::uint32_t *residual, *residual_rows;  ///< counts before each entry, each row
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

/// Copies an array of the residual entries, in their order.
template <class T>
struct CopyResidual {
  const std::uint32_t* residual;
  const T* from;
  T* to;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    if (residual[i + 1] != residual[i]) to[residual[i]] = from[i];
  }
};

/// Writes the ids of the chosen columns; the last one of a window is repeated to the end of its tiles.
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

struct LibraWorkspace {
  ColumnsWorkspace columns;
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
  /// Returns the entries of each column as bytes: hosts and devices are little-endian.
  [[nodiscard]] const std::uint8_t* counts() const {
    return reinterpret_cast<const std::uint8_t*>(packed_counts);
  }
};

/// Chooses the columns of all windows and numbers the residual entries.
template <class Run>
void choose_all(Run& run, const DeviceCsr& csr, const LibraColumns& columns, const LibraRule& rule,
                const SpreadSums& sums, const LibraWorkspace& workspace) {
  run.clear(workspace.packed_counts,
            static_cast<std::size_t>(csr.nnz + 3) / 4 * sizeof *workspace.packed_counts);
  run.clear(sums.sums, static_cast<std::size_t>(sums.size()) * sizeof *sums.sums);
  run.each(columns.rows.steps_apart(), CountColumnEntries{columns, workspace.packed_counts});
  const DensityCounts densities{workspace.counts(), columns.first};
  run.blocks(columns.windows, CountColumns{densities, workspace.histogram});
  run.each(columns.windows + 1, ChooseColumns{workspace.histogram, columns.windows, rule, workspace.choice,
                                              workspace.tiles, sums});
  run.sum(workspace.tiles, columns.windows + 1);
  run.blocks(columns.windows, SlotColumns{densities, workspace.histogram, workspace.choice, workspace.tiles,
                                          rule.by_density, workspace.slot});
  run.clear(workspace.residual + csr.nnz, sizeof *workspace.residual);
  run.each(columns.rows.steps_apart(), MarkResidual{{columns, workspace.slot}, workspace.residual});
  run.sum(workspace.residual, csr.nnz + 1);
  run.each(csr.rows + 1,
           MarkResidualRows{csr.row_ptr, workspace.residual, csr.rows, workspace.residual_rows});
  run.sum(workspace.residual_rows, csr.rows + 1);
}

/// Writes the four arrays of the residual part.
template <class Run>
void write_libra_residual(Run& run, const DeviceCsr& csr, const LibraWorkspace& workspace,
                          const DeviceFormat& format) {
  using A = formats::LibraArray;
  run.each(csr.rows + 1, WriteResidualRows{csr.row_ptr, workspace.residual, workspace.residual_rows, csr.rows,
                                           array_of<std::int32_t>(format, A::residual_row_id),
                                           array_of<std::int64_t>(format, A::residual_row_offset)});
  run.each(csr.nnz, CopyResidual<std::int32_t>{workspace.residual, csr.col_idx,
                                               array_of<std::int32_t>(format, A::residual_col_id)});
  visit_value_word(csr.value_dtype, [&](auto word) {
    using Word = decltype(word);
    run.each(csr.nnz, CopyResidual<Word>{workspace.residual, static_cast<const Word*>(csr.values),
                                         array_of<Word>(format, A::residual_values)});
  });
}

/// About 100 bytes of memory traffic per entry in addition to find_columns; synchronizes twice.
template <class Run>
Result<DeviceFormat> libra_on(Run& run, const DeviceCsr& csr, const formats::FormatLayout& layout,
                              formats::LibraSetting setting) {
  using A = formats::LibraArray;
  if (Status s = formats::check_libra_setting(layout, setting); !s) return tl::unexpected(s.error());
  const bool sddmm = &layout == &formats::kLibraSddmmLayout;
  const LibraRule rule{setting.threshold, setting.block_columns, sddmm};
  const std::int64_t windows = (csr.rows + 7) / 8;
  Workspace<LibraWorkspace> workspace;
  SpreadSums sums{nullptr, ChooseColumns::kSums};
  if (Status s = workspace.make(run, csr.nnz, windows, csr.rows, sums.size()); !s)
    return tl::unexpected(s.error());
  sums.sums = workspace.sums;
  const auto columns = find_columns(run, csr, FixedWindows{3}, windows, csr.nnz, workspace.columns);
  if (!columns) return tl::unexpected(columns.error());
  choose_all(run, csr, *columns, rule, sums, workspace);
  const auto sizes = download_numbers(
      run, {columns->first + windows, workspace.tiles + windows, workspace.residual_rows + csr.rows});
  if (!sizes) return tl::unexpected(sizes.error());
  const auto [count, tiles, rows] = *sizes;
  std::vector<std::uint64_t> downloaded(static_cast<std::size_t>(sums.size()));
  run.download(downloaded.data(), sums.sums, sums.size());
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  const std::int64_t entries = SpreadSums::total(downloaded, ChooseColumns::kEntries);
  const std::int64_t residual = csr.nnz - entries;

  auto format =
      make_format(run, layout, csr,
                  {windows + 1, tiles + 1, tiles, 8 * tiles, entries, rows, rows + 1, residual, residual});
  if (!format) return format;
  const ListedSlots slots{*columns, workspace.slot};
  const TilePlaces<ListedSlots> places{slots, 1};
  auto* const offset = array_of<std::uint32_t>(*format, A::tc_offset);
  auto* const masks = array_of<std::uint64_t>(*format, A::bitmap);
  run.copy(array_of<void>(*format, A::row_window_offset), workspace.tiles,
           static_cast<std::size_t>(windows + 1) * sizeof(std::uint32_t));
  set_masks(run, columns->rows, places, masks, tiles, offset);
  run.each(count, NumberChosen{slots, workspace.choice, workspace.tiles,
                               array_of<std::int32_t>(*format, A::col_id)});
  move_values(run, csr, columns->rows, places, BitOrder{masks, offset}, array_of<void>(*format, A::values));
  write_libra_residual(run, csr, workspace, *format);
  format->parameters =
      formats::libra_parameters(setting, SpreadSums::total(downloaded, ChooseColumns::kDense),
                                SpreadSums::total(downloaded, ChooseColumns::kFilled));
  return run.finish(std::move(*format));
}

}  // namespace sptile::runtime::cuda
