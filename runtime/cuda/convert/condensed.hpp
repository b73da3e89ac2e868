// me_tcf, bittcf and bmat on the device: windows of fixed height with ascending columns in tiles of 8.
#pragma once

#include <utility>

#include "formats/layout/bittcf.hpp"
#include "formats/layout/bmat.hpp"
#include "formats/layout/me_tcf.hpp"
#include "runtime/cuda/convert/tiles.hpp"

namespace sptile::runtime::cuda {

struct CondensedWorkspace {
  ColumnsWorkspace columns;
  std::uint32_t* tiles = nullptr;  ///< first tile of each window

  void place(Arena& arena, std::int64_t entries, std::int64_t windows) {
    columns.place(arena, entries, windows);
    arena.take(tiles, windows + 1);
  }
};

/// Masks and mask offsets of tiles, for formats that do not store them.
struct MasksWorkspace {
  std::uint64_t* masks = nullptr;
  std::uint32_t* offset = nullptr;

  void place(Arena& arena, std::int64_t masks_in_all) {
    arena.take(masks, masks_in_all);
    arena.take(offset, masks_in_all + 1);
  }
};

/// Windows of a matrix before their tiles are allocated.
struct Condensed {
  Workspace<CondensedWorkspace> workspace;
  AscendingSlots<FixedWindows> slots;
  std::int64_t windows = 0, tiles = 0;

  [[nodiscard]] const CsrRows& rows() const { return slots.columns.rows; }
  [[nodiscard]] std::size_t offset_bytes() const {
    return static_cast<std::size_t>(windows + 1) * sizeof(std::uint32_t);
  }
};

/// Numbers the columns of windows of 2^row_bits rows; synchronizes to get the number of tiles.
template <class Run>
Result<Condensed> condense(Run& run, const DeviceCsr& csr, int row_bits) {
  Condensed result;
  result.windows = (csr.rows + (std::int64_t{1} << row_bits) - 1) >> row_bits;
  if (Status s = result.workspace.make(run, csr.nnz, result.windows); !s) return tl::unexpected(s.error());
  const auto columns =
      find_columns(run, csr, FixedWindows{row_bits}, result.windows, csr.nnz, result.workspace.columns);
  if (!columns) return tl::unexpected(columns.error());
  number_tiles(run, *columns, result.workspace.tiles);
  result.slots = {*columns, result.workspace.tiles};
  std::uint32_t tiles = 0;
  run.download(&tiles, result.workspace.tiles + result.windows, 1);
  result.tiles = tiles;
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  return result;
}

template <class Run>
Result<DeviceFormat> bittcf_on(Run& run, const DeviceCsr& csr) {
  using A = formats::BitTcfArray;
  auto windows = condense(run, csr, 3);
  if (!windows) return tl::unexpected(windows.error());
  const std::int64_t tiles = windows->tiles;
  auto format = make_format(run, formats::kBitTcfLayout, csr,
                            {windows->windows + 1, tiles + 1, tiles, 8 * tiles, csr.nnz});
  if (!format) return format;
  format->parameters = {{"window_rows", std::int64_t{8}}};
  const TilePlaces<AscendingSlots<FixedWindows>> places{windows->slots, 1};
  auto* const offset = array_of<std::uint32_t>(*format, A::tc_offset);
  auto* const masks = array_of<std::uint64_t>(*format, A::tc_local_bit);
  run.copy(array_of<std::int32_t>(*format, A::row_window_offset), windows->workspace.tiles,
           windows->offset_bytes());
  set_masks(run, windows->rows(), places, masks, tiles, offset);
  number_slots(run, windows->slots, tiles, array_of<std::int32_t>(*format, A::sparse_a_to_b));
  move_values(run, csr, windows->rows(), places, BitOrder{masks, offset}, array_of<void>(*format, A::values));
  return run.finish(std::move(*format));
}

/// Copies the offset of the first mask of each tile, which is the offset of the tile.
struct CopyTileOffsets {
  const std::uint32_t* mask_offset;
  std::uint32_t* tile_offset;

  SPTILE_HOST_DEVICE void operator()(std::int64_t tile) const { tile_offset[tile] = mask_offset[2 * tile]; }
};

/// Writes 8 * row + column of each entry in its 16-row tile.
struct WriteLocalIds {
  CsrRows rows;
  TilePlaces<AscendingSlots<FixedWindows>> places;
  BitOrder order;
  std::uint8_t* ids;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    rows.visit_apart(step, [&](std::int64_t entry, std::int64_t row) {
      const Place place = places.at(entry, row);
      ids[order.position(place)] = static_cast<std::uint8_t>(64 * (place.mask % 2) + place.bit);
    });
  }
};

template <class Run>
Result<DeviceFormat> me_tcf_on(Run& run, const DeviceCsr& csr) {
  using A = formats::MeTcfArray;
  auto windows = condense(run, csr, 4);
  if (!windows) return tl::unexpected(windows.error());
  const std::int64_t tiles = windows->tiles;
  Workspace<MasksWorkspace> workspace;
  if (Status s = workspace.make(run, 2 * tiles); !s) return tl::unexpected(s.error());
  auto format = make_format(run, formats::kMeTcfLayout, csr,
                            {windows->windows + 1, tiles + 1, csr.nnz, 8 * tiles, csr.nnz});
  if (!format) return format;
  format->parameters = {{"window_rows", std::int64_t{16}}};
  const TilePlaces<AscendingSlots<FixedWindows>> places{windows->slots, 2};
  const BitOrder order{workspace.masks, workspace.offset};
  run.copy(array_of<std::int32_t>(*format, A::row_window_offset), windows->workspace.tiles,
           windows->offset_bytes());
  set_masks(run, windows->rows(), places, workspace.masks, 2 * tiles, workspace.offset);
  run.each(tiles + 1, CopyTileOffsets{workspace.offset, array_of<std::uint32_t>(*format, A::tc_offset)});
  run.each(windows->rows().steps_apart(),
           WriteLocalIds{windows->rows(), places, order, array_of<std::uint8_t>(*format, A::tc_local_id)});
  number_slots(run, windows->slots, tiles, array_of<std::int32_t>(*format, A::sparse_a_to_b));
  move_values(run, csr, windows->rows(), places, order, array_of<void>(*format, A::values));
  return run.finish(std::move(*format));
}

/// Writes the first entry of each 16-row window.
struct CopyWindowOffsets {
  const std::int64_t* row_ptr;
  std::int64_t rows;
  std::int64_t* offset;

  SPTILE_HOST_DEVICE void operator()(std::int64_t window) const {
    offset[window] = row_ptr[16 * window < rows ? 16 * window : rows];
  }
};

/// Writes the two masks of a tile as four words of 8 rows and 4 columns; see BmatView.
struct WriteWords {
  const std::uint64_t* masks;
  std::uint32_t* words;

  static SPTILE_HOST_DEVICE std::uint32_t pack(std::uint64_t mask) {
    mask &= BmatOrder::kLeft;
    mask = (mask | mask >> 4) & 0x00FF00FF00FF00FF;
    mask = (mask | mask >> 8) & 0x0000FFFF0000FFFF;
    return static_cast<std::uint32_t>(mask | mask >> 16);
  }
  SPTILE_HOST_DEVICE void operator()(std::int64_t tile) const {
    for (int word = 0; word < 4; ++word)
      words[4 * tile + word] = pack(masks[2 * tile + word % 2] >> (4 * (word / 2)));
  }
};

template <class Run>
Result<DeviceFormat> bmat_on(Run& run, const DeviceCsr& csr) {
  using A = formats::BmatArray;
  auto windows = condense(run, csr, 4);
  if (!windows) return tl::unexpected(windows.error());
  const std::int64_t tiles = windows->tiles;
  Workspace<MasksWorkspace> workspace;
  if (Status s = workspace.make(run, 2 * tiles); !s) return tl::unexpected(s.error());
  auto format = make_format(run, formats::kBmatLayout, csr,
                            {windows->windows + 1, windows->windows + 1, 4 * tiles, 8 * tiles, csr.nnz});
  if (!format) return format;
  format->parameters = {{"window_rows", std::int64_t{16}}};
  const TilePlaces<AscendingSlots<FixedWindows>> places{windows->slots, 2};
  run.copy(array_of<std::int32_t>(*format, A::row_window_offset), windows->workspace.tiles,
           windows->offset_bytes());
  run.each(windows->windows + 1,
           CopyWindowOffsets{csr.row_ptr, csr.rows, array_of<std::int64_t>(*format, A::value_offset)});
  set_masks(run, windows->rows(), places, workspace.masks, 2 * tiles, workspace.offset);
  run.each(tiles, WriteWords{workspace.masks, array_of<std::uint32_t>(*format, A::bits)});
  number_slots(run, windows->slots, tiles, array_of<std::int32_t>(*format, A::col_id));
  move_values(run, csr, windows->rows(), places, BmatOrder{workspace.masks, workspace.offset},
              array_of<void>(*format, A::values));
  return run.finish(std::move(*format));
}

}  // namespace sptile::runtime::cuda
