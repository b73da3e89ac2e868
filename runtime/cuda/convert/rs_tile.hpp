// Conversion to rs_tile on the device.
#pragma once

#include <utility>

#include "formats/layout/rs_tile.hpp"
#include "runtime/cuda/convert/gather_rows.hpp"
#include "runtime/cuda/convert/rs_rows.hpp"
#include "runtime/cuda/convert/tiles.hpp"

namespace sptile::runtime::cuda {

/// Computes the number of pieces of each window, and a final 0.
struct CountPieces {
  const std::uint32_t* tiles;  ///< first tile of each window
  std::int64_t windows, limit;
  std::uint32_t* pieces;
  std::uint64_t* split;  ///< number of windows that are split

  SPTILE_HOST_DEVICE void operator()(std::int64_t window) const {
    pieces[window] = 0;
    if (window == windows) return;
    const std::int64_t count = std::int64_t{tiles[window + 1]} - tiles[window];
    pieces[window] = static_cast<std::uint32_t>((count + limit - 1) / limit);
    if (pieces[window] > 1) atomic_add(split, 1);
  }
};

/// Writes the arrays with one element per piece.
struct WritePieces {
  const std::uint32_t* pieces;  ///< first piece of each window
  const std::uint32_t* tiles;
  const std::uint32_t* entries;    ///< first entry of each tile
  const std::int32_t* window_row;  ///< first row of each window
  std::int64_t windows;
  std::int32_t *row_window_id, *row_window_offset;
  std::int64_t* value_offset;
  std::uint8_t* flags;

  SPTILE_HOST_DEVICE void operator()(std::int64_t piece) const {
    std::int64_t first = tiles[windows];
    if (piece < pieces[windows]) {
      const std::int64_t window = last_at_most(pieces, windows, piece);
      const std::int64_t count = pieces[window + 1] - pieces[window],
                         in_window = std::int64_t{tiles[window + 1]} - tiles[window];
      first = tiles[window] + in_window * (piece - pieces[window]) / count;
      row_window_id[piece] = window_row[window];
      flags[piece] = count > 1 ? formats::kRsTileSplit : 0;
    }
    row_window_offset[piece] = static_cast<std::int32_t>(first);
    value_offset[piece] = entries[first];
  }
};

/// Writes sort keys and items for residual rows: number of entries, and row.
struct KeyResidualRows {
  const std::int64_t* row_ptr;
  const std::int32_t* rows;
  std::uint64_t* keys;
  std::uint32_t* items;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t row = rows[i];
    keys[i] = static_cast<std::uint64_t>(row_ptr[row + 1] - row_ptr[row]);
    items[i] = static_cast<std::uint32_t>(row);
  }
};

/// Finds the first sorted row with at least each number of entries.
struct WriteClasses {
  const std::uint64_t* keys;
  std::int64_t rows;
  std::int32_t* offset;

  SPTILE_HOST_DEVICE void operator()(std::int64_t entries) const {
    offset[entries] = static_cast<std::int32_t>(lower_bound(keys, rows, static_cast<std::uint64_t>(entries)));
  }
};

/// Rows in sorted order.
struct SortedRows {
  const std::uint32_t* rows;

  SPTILE_HOST_DEVICE std::int64_t operator()(std::int64_t i) const { return rows[i]; }
};

struct RsTileWorkspace {
  ColumnsWorkspace columns;
  SortBuffers rows;  ///< residual rows
  std::uint32_t *tiles = nullptr, *pieces = nullptr, *from = nullptr;
  std::int64_t* residual_ptr = nullptr;
  std::uint64_t* split = nullptr;

  void place(Arena& arena, std::int64_t entries, std::int64_t windows, std::int64_t residual_rows,
             std::int64_t residual_entries) {
    columns.place(arena, entries, windows);
    rows.place(arena, residual_rows);
    arena.take(tiles, windows + 1);
    arena.take(pieces, windows + 1);
    arena.take(from, residual_entries);
    arena.take(residual_ptr, residual_rows + 1);
    arena.take(split, 1);
  }
};

/// First entry of each tile, which the format does not store.
struct TileOffsetsWorkspace {
  std::uint32_t* offset = nullptr;

  void place(Arena& arena, std::int64_t tiles) { arena.take(offset, tiles + 1); }
};

/// Writes the four arrays of the residual part.
template <class Run>
void write_residual(Run& run, const DeviceCsr& csr, const RsPartition& partition, RsTileWorkspace& workspace,
                    const DeviceFormat& format) {
  using A = formats::RsTileArray;
  const std::int64_t rows = partition.residual_rows, entries = partition.residual_entries;
  run.each(rows, KeyResidualRows{csr.row_ptr, partition.rows.residual_row, workspace.rows.keys,
                                 workspace.rows.items});
  run.sort(workspace.rows, rows, 0, bits_for(partition.tau_nnz));
  const SortedRows sorted{workspace.rows.items};
  number_rows(run, csr, sorted, rows, workspace.residual_ptr);
  run.copy(array_of<void>(format, A::residual_row_id), workspace.rows.items,
           static_cast<std::size_t>(rows) * sizeof(std::int32_t));
  run.each(partition.tau_nnz + 2,
           WriteClasses{workspace.rows.keys, rows, array_of<std::int32_t>(format, A::residual_class_offset)});
  run.each(entries,
           GatherColumns<SortedRows>{csr.row_ptr, workspace.residual_ptr, csr.col_idx, sorted, rows,
                                     array_of<std::int32_t>(format, A::residual_col_id), workspace.from});
  visit_value_word(csr.value_dtype, [&](auto word) {
    using Word = decltype(word);
    run.each(entries, GatherValues<Word>{workspace.from, static_cast<const Word*>(csr.values),
                                         array_of<Word>(format, A::residual_values)});
  });
}

template <class Run>
Result<DeviceFormat> rs_tile_on(Run& run, const DeviceCsr& csr, const formats::RsTileSetting& setting) {
  using A = formats::RsTileArray;
  auto partition = partition_on(run, csr, setting);
  if (!partition) return tl::unexpected(partition.error());
  const std::int64_t windows = partition->rows.windows, entries = csr.nnz - partition->residual_entries;
  Workspace<RsTileWorkspace> workspace;
  if (Status s = workspace.make(run, csr.nnz, windows, partition->residual_rows, partition->residual_entries);
      !s)
    return tl::unexpected(s.error());
  const auto columns = find_columns(run, csr, partition->rows, windows, entries, workspace.columns);
  if (!columns) return tl::unexpected(columns.error());
  number_tiles(run, *columns, workspace.tiles);
  std::uint32_t tiles = 0;
  run.download(&tiles, workspace.tiles + windows, 1);
  const std::int64_t limit = formats::split_limit(tiles, windows, setting);
  run.clear(workspace.split, sizeof *workspace.split);
  run.each(windows + 1, CountPieces{workspace.tiles, windows, limit, workspace.pieces, workspace.split});
  run.sum(workspace.pieces, windows + 1);
  const auto cut = download_numbers(run, {Number(workspace.pieces + windows), Number(workspace.split)});
  if (!cut) return tl::unexpected(cut.error());
  const auto [pieces, split] = *cut;
  Workspace<TileOffsetsWorkspace> offsets;
  if (Status s = offsets.make(run, std::int64_t{tiles}); !s) return tl::unexpected(s.error());

  auto format = make_format(run, formats::kRsTileLayout, csr,
                            {pieces, pieces + 1, pieces + 1, pieces, tiles, std::int64_t{8} * tiles, entries,
                             partition->residual_rows, partition->tau_nnz + 2, partition->residual_entries,
                             partition->residual_entries});
  if (!format) return format;
  auto* const masks = array_of<std::uint64_t>(*format, A::bitmap);
  const AscendingSlots<RsRows> slots{*columns, workspace.tiles};
  const TilePlaces<AscendingSlots<RsRows>> places{slots, 1};
  set_masks(run, columns->rows, places, masks, tiles, offsets.offset);
  run.each(pieces + 1,
           WritePieces{workspace.pieces, workspace.tiles, offsets.offset, partition->rows.first_row, windows,
                       array_of<std::int32_t>(*format, A::row_window_id),
                       array_of<std::int32_t>(*format, A::row_window_offset),
                       array_of<std::int64_t>(*format, A::value_offset),
                       array_of<std::uint8_t>(*format, A::window_flags)});
  number_slots(run, slots, tiles, array_of<std::int32_t>(*format, A::col_id));
  move_values(run, csr, columns->rows, places, BitOrder{masks, offsets.offset},
              array_of<void>(*format, A::values));
  write_residual(run, csr, *partition, workspace, *format);

  if (partition->tau_nnz == 0) partition->choice.set_tc_blocks(tiles);
  format->parameters = formats::rule_parameters(partition->tau_nnz, partition->choice);
  // Every window has a tile; windows that are not split are one piece each.
  const std::int64_t in_pieces = pieces - (windows - split);
  for (auto& parameter : formats::split_parameters(limit, split, in_pieces))
    format->parameters.push_back(std::move(parameter));
  return run.finish(std::move(*format));
}

}  // namespace sptile::runtime::cuda
