// Conversion to tall on the device: distinct columns of up to 128 rows, sorted by the sub-windows that use
// them and distributed.
#pragma once

#include <optional>
#include <utility>

#include "runtime/cuda/convert/tall_counts.hpp"
#include "runtime/cuda/convert/tall_place.hpp"
#include "runtime/cuda/convert/tiles.hpp"

namespace sptile::runtime::cuda {

/// Columns in groups of 8; a group corresponds to a tile of number_tiles.
struct TallColumns {
  Columns<FixedWindows> columns;
  const std::uint32_t* groups;  ///< first group of each window
};

/// Marks the sub-windows that use each column; `marks` must be zero.
struct MarkSubs {
  Columns<FixedWindows> columns;
  std::uint32_t* subs;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    columns.rows.visit_apart(step, [&](std::int64_t entry, std::int64_t row) {
      atomic_or(subs + columns.column(entry, row), 1u << (columns.of_row.row(row) / 8));
    });
  }
};

/// Writes sort keys and items for columns: window and mask of sub-windows, and column.
struct ListColumns {
  Columns<FixedWindows> columns;
  const std::uint32_t* used;
  int subs;
  std::uint64_t* keys;
  std::uint32_t* items;

  SPTILE_HOST_DEVICE void operator()(std::int64_t column) const {
    keys[column] = static_cast<std::uint64_t>(columns.window_of_column(column)) << subs | used[column];
    items[column] = static_cast<std::uint32_t>(column);
  }
};

/// Assigns a slot to each sorted column, and a mask to each group.
struct PlaceColumns {
  TallColumns tall;
  const std::uint64_t* keys;
  const std::uint32_t* items;
  int subs;
  std::uint32_t* slot;  ///< by column
  std::uint32_t* group_mask;

  SPTILE_HOST_DEVICE void operator()(std::int64_t sorted) const {
    const std::int64_t window = static_cast<std::int64_t>(keys[sorted] >> subs);
    const std::int64_t place = sorted - tall.columns.first[window], first = tall.groups[window];
    const std::int64_t group = first + tall_place(place / 8, tall.groups[window + 1] - first);
    slot[items[sorted]] = static_cast<std::uint32_t>(8 * group + place % 8);
    atomic_or(group_mask + group, static_cast<std::uint32_t>(keys[sorted] & below(subs)));
  }
};

/// Computes the number of tiles of each group, and a final 0.
struct CountGroupTiles {
  const std::uint32_t* group_mask;
  std::int64_t groups;
  std::uint32_t* tiles;

  SPTILE_HOST_DEVICE void operator()(std::int64_t group) const {
    tiles[group] = group < groups ? static_cast<std::uint32_t>(count_bits(group_mask[group])) : 0;
  }
};

/// Writes the id of each sorted column to its slot; the last one of a window is repeated to the end of its
/// group.
struct NumberPlacedColumns {
  TallColumns tall;
  const std::uint64_t* keys;
  const std::uint32_t* items;
  int subs;
  const std::uint32_t* slot;
  std::int32_t* col_id;

  SPTILE_HOST_DEVICE void operator()(std::int64_t sorted) const {
    const Columns<FixedWindows>& columns = tall.columns;
    const std::int64_t column = items[sorted], to = slot[column];
    const auto window = static_cast<std::int64_t>(keys[sorted] >> subs);
    const bool last = sorted + 1 == columns.first[window + 1];
    const std::int64_t end = last ? to / 8 * 8 + 8 : to + 1;
    const std::int32_t id = columns.id(window, column - columns.first[window]);
    for (std::int64_t s = to; s < end; ++s) col_id[s] = id;
  }
};

/// Places of entries in masks; a mask exists for each nonempty sub-window of a group.
struct TallPlaces {
  Columns<FixedWindows> columns;
  const std::uint32_t *slot, *group_mask, *tile;

  SPTILE_HOST_DEVICE Place at(std::int64_t entry, std::int64_t r) const {
    const std::int64_t s = slot[columns.column(entry, r)];
    const auto row = static_cast<int>(columns.of_row.row(r));
    return {std::int64_t{tile[s / 8]} + count_bits(group_mask[s / 8] & below(row / 8)),
            8 * (row % 8) + static_cast<int>(s % 8)};
  }
};

struct WriteWindowRows {
  int height;
  std::int64_t rows;
  std::int32_t* to;

  SPTILE_HOST_DEVICE void operator()(std::int64_t window) const {
    const std::int64_t row = window * height;
    to[window] = static_cast<std::int32_t>(row < rows ? row : rows);
  }
};

struct TallWorkspace {
  ColumnsWorkspace columns;
  std::uint32_t* groups = nullptr;

  void place(Arena& arena, std::int64_t entries, std::int64_t windows) {
    columns.place(arena, entries, windows);
    arena.take(groups, windows + 1);
  }
};

struct PlacesWorkspace {
  SortBuffers sort;
  std::uint32_t *used = nullptr, *slot = nullptr, *group_mask = nullptr, *tile = nullptr;

  void place(Arena& arena, std::int64_t columns, std::int64_t groups) {
    sort.place(arena, columns);
    arena.take(used, columns);
    arena.take(slot, columns);
    arena.take(group_mask, groups);
    arena.take(tile, groups + 1);
  }
};

/// Sizes and groups known when the arrays are allocated.
struct TallGroups {
  TallColumns tall;
  int subs;
  std::int64_t columns, groups, tiles;
};

template <class Run>
Result<DeviceFormat> fill_tall(Run& run, const DeviceCsr& csr, const TallGroups& all,
                               const PlacesWorkspace& placed, int level) {
  using A = formats::TallArray;
  const Columns<FixedWindows>& columns = all.tall.columns;
  auto format = make_format(run, formats::kTallLayout, csr,
                            {columns.windows + 1, columns.windows + 1, all.groups, all.groups + 1,
                             8 * all.groups, all.tiles, all.tiles + 1, csr.nnz});
  if (!format) return format;
  run.each(columns.windows + 1, WriteWindowRows{formats::tall_height(level), csr.rows,
                                                array_of<std::int32_t>(*format, A::window_row)});
  const auto bytes = [](std::int64_t words) {
    return static_cast<std::size_t>(words) * sizeof(std::uint32_t);
  };
  run.copy(array_of<void>(*format, A::window_group_offset), all.tall.groups, bytes(columns.windows + 1));
  run.copy(array_of<void>(*format, A::group_mask), placed.group_mask, bytes(all.groups));
  run.copy(array_of<void>(*format, A::group_tile_offset), placed.tile, bytes(all.groups + 1));
  run.each(all.columns, NumberPlacedColumns{all.tall, placed.sort.keys, placed.sort.items, all.subs,
                                            placed.slot, array_of<std::int32_t>(*format, A::col_id)});
  auto* const masks = array_of<std::uint64_t>(*format, A::bitmap);
  auto* const offset = array_of<std::uint32_t>(*format, A::value_offset);
  const TallPlaces places{columns, placed.slot, placed.group_mask, placed.tile};
  set_masks(run, columns.rows, places, masks, all.tiles, offset);
  move_values(run, csr, columns.rows, places, BitOrder{masks, offset}, array_of<void>(*format, A::values));
  return run.finish(std::move(*format));
}

/// Converts with windows of one height; see formats::tall_height. About 60 bytes of memory traffic per entry
/// and 100 per distinct column in addition to find_columns.
template <class Run>
Result<DeviceFormat> tall_of_level(Run& run, const DeviceCsr& csr, int level) {
  const int row_bits = 4 + level, subs = tall_subs(level);
  const std::int64_t windows = (csr.rows + formats::tall_height(level) - 1) / formats::tall_height(level);
  Workspace<TallWorkspace> workspace;
  if (Status s = workspace.make(run, csr.nnz, windows); !s) return tl::unexpected(s.error());
  const auto found = find_columns(run, csr, FixedWindows{row_bits}, windows, csr.nnz, workspace.columns);
  if (!found) return tl::unexpected(found.error());
  const Columns<FixedWindows>& columns = *found;
  number_tiles(run, columns, workspace.groups);
  const auto sizes = download_numbers(run, {columns.first + windows, workspace.groups + windows});
  if (!sizes) return tl::unexpected(sizes.error());
  TallGroups all{{columns, workspace.groups}, subs, (*sizes)[0], (*sizes)[1], 0};

  Workspace<PlacesWorkspace> placed;
  if (Status s = placed.make(run, all.columns, all.groups); !s) return tl::unexpected(s.error());
  run.clear(placed.used, static_cast<std::size_t>(all.columns) * sizeof *placed.used);
  run.each(columns.rows.steps_apart(), MarkSubs{columns, placed.used});
  run.each(all.columns, ListColumns{columns, placed.used, subs, placed.sort.keys, placed.sort.items});
  run.sort(placed.sort, all.columns, 0, subs + bits_for(windows - 1));
  run.clear(placed.group_mask, static_cast<std::size_t>(all.groups) * sizeof *placed.group_mask);
  run.each(all.columns,
           PlaceColumns{all.tall, placed.sort.keys, placed.sort.items, subs, placed.slot, placed.group_mask});
  run.each(all.groups + 1, CountGroupTiles{placed.group_mask, all.groups, placed.tile});
  run.sum(placed.tile, all.groups + 1);
  std::uint32_t tiles = 0;
  run.download(&tiles, placed.tile + all.groups, 1);
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  all.tiles = tiles;
  return fill_tall(run, csr, all, placed, level);
}

/// height: chosen by the cost model if not given.
template <class Run>
Result<DeviceFormat> tall_on(Run& run, const DeviceCsr& csr, std::optional<int> height) {
  formats::TallCounts counts{};
  if (!height) {
    const auto counted = count_tall_on(run, csr);
    if (!counted) return tl::unexpected(counted.error());
    counts = *counted;
  }
  const int level = height ? formats::tall_level(*height) : formats::cheapest_level(counts);
  auto format = tall_of_level(run, csr, level);
  if (format && !height) format->parameters = formats::tall_parameters(counts, level);
  return format;
}

}  // namespace sptile::runtime::cuda
