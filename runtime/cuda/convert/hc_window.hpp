// Conversion to hc_window on the device (HyGNN, section 4.2).
#pragma once

#include <utility>

#include "formats/layout/hc_rules.hpp"
#include "runtime/cuda/convert/condensed.hpp"

namespace sptile::runtime::cuda {

/// Implements formats::gain_on_cuda_cores.
struct HcRule {
  std::int64_t constant, sparsity, columns;

  explicit HcRule(const formats::HcSelector& selector)
      : constant(selector.constant), sparsity(selector.sparsity), columns(selector.columns) {}

  SPTILE_HOST_DEVICE std::int64_t gain_on_cuda_cores(std::int64_t distinct, std::int64_t entries) const {
    const std::int64_t many = distinct < formats::kHcManyColumns ? distinct : formats::kHcManyColumns;
    return (16 * constant + columns * many) * distinct + sparsity * (16 * distinct - entries);
  }
};

/// Windows of 16 rows with their distinct columns and entries.
struct HcWindows {
  Columns<FixedWindows> columns;

  SPTILE_HOST_DEVICE std::int64_t distinct(std::int64_t window) const {
    return std::int64_t{columns.first[window + 1]} - columns.first[window];
  }
  SPTILE_HOST_DEVICE std::int64_t entries(std::int64_t window) const {
    const std::int64_t first = columns.of_row.begin(window), end = columns.of_row.end(window),
                       rows = columns.rows.rows;
    return columns.rows.row_ptr[end < rows ? end : rows] - columns.rows.row_ptr[first];
  }
};

/// Indices of the sums in HcWindowWorkspace.
enum HcSum { kHcTensorWindows, kHcGainOnCuda, kHcGainOnTensor, kHcSums };

/// Sums the gains of the windows on their assigned cores.
struct SumGains {
  HcWindows windows;
  HcRule rule;
  SpreadSums sums;

  SPTILE_HOST_DEVICE void operator()(std::int64_t window) const {
    const std::int64_t gain = rule.gain_on_cuda_cores(windows.distinct(window), windows.entries(window));
    sums.add(gain > 0 ? kHcGainOnCuda : kHcGainOnTensor, window,
             static_cast<std::uint64_t>(gain > 0 ? gain : -gain));
  }
};

/// Assigns the windows of 16 rows to cores: writes their numbers of tiles and a final 0, and counts the
/// windows with tiles.
struct ChooseCores {
  HcWindows windows;
  HcRule rule;
  std::uint32_t* tiles;
  SpreadSums sums;

  SPTILE_HOST_DEVICE void operator()(std::int64_t window) const {
    tiles[window] = 0;
    if (window == windows.columns.windows) return;
    const std::int64_t distinct = windows.distinct(window);
    if (distinct == 0 || rule.gain_on_cuda_cores(distinct, windows.entries(window)) > 0) return;
    tiles[window] = static_cast<std::uint32_t>((distinct + 7) / 8);
    sums.add(kHcTensorWindows, window, 1);
  }
};

/// Columns of the windows with tiles.
struct HcSlots {
  Columns<FixedWindows> columns;
  const std::uint32_t* tiles;  ///< first tile of each window

  SPTILE_HOST_DEVICE bool in_tiles(std::int64_t row) const {
    const std::int64_t window = columns.of_row.window(row);
    return tiles[window] != tiles[window + 1];
  }
  SPTILE_HOST_DEVICE std::int64_t slot(std::int64_t entry, std::int64_t row) const {
    return in_tiles(row) ? std::int64_t{8} * tiles[columns.of_row.window(row)] + columns.place[entry] : -1;
  }
};

/// Writes the entries of each row without tiles, and 1 if it is nonempty, with a final 0 each.
struct CountStaying {
  HcSlots slots;
  std::uint32_t *entries, *rows;

  SPTILE_HOST_DEVICE void operator()(std::int64_t row) const {
    const CsrRows& csr = slots.columns.rows;
    const bool stays = row < csr.rows && !slots.in_tiles(row);
    entries[row] = stays ? static_cast<std::uint32_t>(csr.row_ptr[row + 1] - csr.row_ptr[row]) : 0;
    rows[row] = entries[row] != 0;
  }
};

/// Writes the nonempty rows without tiles, given the prefix sums of entries and rows.
struct WriteStaying {
  const std::uint32_t *entries, *rows;
  std::int64_t count;  ///< rows of the matrix
  std::int32_t* row_id;
  std::int64_t* row_offset;

  SPTILE_HOST_DEVICE void operator()(std::int64_t row) const {
    const std::uint32_t to = rows[row];
    if (row < count && rows[row + 1] == to) return;
    if (row < count) row_id[to] = static_cast<std::int32_t>(row);
    row_offset[to] = entries[row];
  }
};

/// Copies the columns or values of the entries in rows without tiles.
template <class T>
struct CopyStaying {
  HcSlots slots;
  const std::uint32_t* entries;  ///< entries before each row
  const T* from;
  T* to;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    const CsrRows& csr = slots.columns.rows;
    csr.visit_apart(step, [&](std::int64_t entry, std::int64_t row) {
      if (!slots.in_tiles(row)) to[entries[row] + (entry - csr.row_ptr[row])] = from[entry];
    });
  }
};

struct HcWindowWorkspace {
  ColumnsWorkspace columns;
  std::uint32_t *tiles = nullptr, *entries = nullptr, *rows = nullptr;  ///< prefix sums by window, row and
                                                                        ///< row
  std::uint64_t* sums = nullptr;

  void place(Arena& arena, std::int64_t all, std::int64_t windows, std::int64_t all_rows,
             std::int64_t sums_size) {
    columns.place(arena, all, windows);
    arena.take(tiles, windows + 1);
    arena.take(entries, all_rows + 1);
    arena.take(rows, all_rows + 1);
    arena.take(sums, sums_size);
  }
};

struct MaskOffsetsWorkspace {
  std::uint32_t* offset = nullptr;

  void place(Arena& arena, std::int64_t masks) { arena.take(offset, masks + 1); }
};

/// Writes the four arrays of the windows for CUDA cores.
template <class Run>
void write_staying(Run& run, const DeviceCsr& csr, const HcSlots& slots, const HcWindowWorkspace& workspace,
                   const DeviceFormat& format) {
  using A = formats::HcWindowArray;
  const std::int64_t steps = slots.columns.rows.steps_apart();
  run.each(csr.rows + 1, WriteStaying{workspace.entries, workspace.rows, csr.rows,
                                      array_of<std::int32_t>(format, A::row_id),
                                      array_of<std::int64_t>(format, A::row_offset)});
  run.each(steps, CopyStaying<std::int32_t>{slots, workspace.entries, csr.col_idx,
                                            array_of<std::int32_t>(format, A::row_col_id)});
  visit_value_word(csr.value_dtype, [&](auto word) {
    using Word = decltype(word);
    run.each(steps, CopyStaying<Word>{slots, workspace.entries, static_cast<const Word*>(csr.values),
                                      array_of<Word>(format, A::row_values)});
  });
}

/// Writes the five arrays of the windows for tensor cores.
template <class Run>
void write_tiles(Run& run, const DeviceCsr& csr, const HcSlots& slots, std::int64_t tiles,
                 const MaskOffsetsWorkspace& workspace, const DeviceFormat& format) {
  using A = formats::HcWindowArray;
  const TilePlaces<HcSlots> places{slots, 2};
  auto* const masks = array_of<std::uint64_t>(format, A::bitmap);
  run.copy(array_of<void>(format, A::row_window_offset), slots.tiles,
           static_cast<std::size_t>(slots.columns.windows + 1) * sizeof(std::uint32_t));
  set_masks(run, slots.columns.rows, places, masks, 2 * tiles, workspace.offset);
  run.each(tiles + 1, CopyTileOffsets{workspace.offset, array_of<std::uint32_t>(format, A::tc_offset)});
  number_slots(run, AscendingSlots<FixedWindows>{slots.columns, slots.tiles}, tiles,
               array_of<std::int32_t>(format, A::col_id));
  move_values(run, csr, slots.columns.rows, places, BitOrder{masks, workspace.offset},
              array_of<void>(format, A::values));
}

/// Fetches the sums. Synchronizes.
template <class Run>
Result<std::vector<std::uint64_t>> download_sums(Run& run, const SpreadSums& sums) {
  std::vector<std::uint64_t> downloaded(static_cast<std::size_t>(sums.size()));
  run.download(downloaded.data(), sums.sums, sums.size());
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  return downloaded;
}

/// Applies formats::settled to a selector, with the gains of the matrix.
template <class Run>
Result<formats::HcSelector> settled_on(Run& run, const DeviceCsr& csr, const HcWindows& windows,
                                       const formats::HcSelector& selector, const SpreadSums& sums) {
  run.each(windows.columns.windows, SumGains{windows, HcRule(selector), sums});
  const auto downloaded = download_sums(run, sums);
  if (!downloaded) return tl::unexpected(downloaded.error());
  return formats::settled(
      selector,
      {SpreadSums::total(*downloaded, kHcGainOnCuda), SpreadSums::total(*downloaded, kHcGainOnTensor)},
      csr.nnz);
}

/// Synchronizes twice, and once more for a selector that settles.
template <class Run>
Result<DeviceFormat> hc_window_on(Run& run, const DeviceCsr& csr, int parameter) {
  if (Status s = formats::check_hc_parameter(parameter); !s) return tl::unexpected(s.error());
  formats::HcSelector selector = formats::hc_selector(parameter);
  const std::int64_t windows = (csr.rows + 15) / 16;
  Workspace<HcWindowWorkspace> workspace;
  SpreadSums sums{nullptr, kHcSums};
  if (Status s = workspace.make(run, csr.nnz, windows, csr.rows, sums.size()); !s)
    return tl::unexpected(s.error());
  sums.sums = workspace.sums;
  const auto columns = find_columns(run, csr, FixedWindows{4}, windows, csr.nnz, workspace.columns);
  if (!columns) return tl::unexpected(columns.error());
  const HcSlots slots{*columns, workspace.tiles};
  run.clear(sums.sums, static_cast<std::size_t>(sums.size()) * sizeof *sums.sums);
  if (selector.settles) {
    const auto found = settled_on(run, csr, {*columns}, selector, sums);
    if (!found) return tl::unexpected(found.error());
    selector = *found;
  }
  run.each(windows + 1, ChooseCores{{*columns}, HcRule(selector), workspace.tiles, sums});
  run.sum(workspace.tiles, windows + 1);
  run.each(csr.rows + 1, CountStaying{slots, workspace.entries, workspace.rows});
  run.sum(workspace.entries, csr.rows + 1);
  run.sum(workspace.rows, csr.rows + 1);
  const auto sizes = download_numbers(
      run, {workspace.tiles + windows, workspace.entries + csr.rows, workspace.rows + csr.rows});
  if (!sizes) return tl::unexpected(sizes.error());
  const auto [tiles, entries, rows] = *sizes;
  const auto downloaded = download_sums(run, sums);
  if (!downloaded) return tl::unexpected(downloaded.error());

  auto format = make_format(
      run, formats::kHcWindowLayout, csr,
      {windows + 1, tiles + 1, 2 * tiles, 8 * tiles, csr.nnz - entries, rows, rows + 1, entries, entries});
  if (!format) return format;
  Workspace<MaskOffsetsWorkspace> offsets;
  if (Status s = offsets.make(run, 2 * tiles); !s) return tl::unexpected(s.error());
  write_tiles(run, csr, slots, tiles, offsets, *format);
  write_staying(run, csr, slots, workspace, *format);
  const std::int64_t tensor_windows = SpreadSums::total(*downloaded, kHcTensorWindows);
  format->parameters = formats::hc_parameters(parameter, tensor_windows, windows - tensor_windows);
  return run.finish(std::move(*format));
}

}  // namespace sptile::runtime::cuda
