// Schedules of tile kernels for a checked format, and their launch parameters. Plain C++.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/cuda/device/me_tcf_masks.hpp"
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/families/tile/division.hpp"
#include "runtime/cuda/stored_schedule.hpp"

namespace sptile::runtime::cuda {

/// Launch parameters; `..._at` are offsets in Schedule::bytes, -1: the format's own array.
struct TileHeader {
  std::int64_t items_at = 0, item_count = 0;
  std::int64_t splits_at = 0, split_count = 0;
  std::int64_t masks_at = -1;       ///< 16-byte masks computed for me_tcf
  std::int64_t window_row_at = -1;  ///< first rows of the windows to multiply
  std::int64_t window_tile_at = -1;
  std::int64_t short_at = 0, short_count = 0;  ///< items of rows in classes
  std::int64_t empty_rows_at = 0;
  ScheduleScratch scratch;
  int variant = 0;  ///< kernel of the family, by features per warp
  int slices_together = 0;
  int warps_per_block = 0;
  int teams = 0;  ///< blocks, per slice, whose warps share a window
};

/// Features per warp of each variant of a kernel family, and its resident warps per multiprocessor.
struct TileVariant {
  int features;
  int elements;  ///< consecutive features that a lane moves at once
  int warps_per_sm;
  int least_cost;  ///< minimum work of each of these warps in tiles, because wide warps are few
};

/// Chooses the variant with the fewest warps per item that leaves at most a quarter of its features idle and
/// has work for all of its warps.
int choose_variant(std::span<const TileVariant> variants, std::int64_t n, std::int64_t cost,
                   const DeviceInfo& device);

/// Returns the minimum number of columns for which the variant chosen for n columns in full units would be
/// chosen with the same number of slices.
std::int64_t tile_least_n(std::span<const TileVariant> variants, int chosen, std::int64_t n);

/// Returns the slices of B that are multiplied concurrently. If B exceeds L2 but some slices fit, the items
/// process all of A for these before the next ones: A is loaded more often, but B, most of the traffic, hits
/// the cache. This also pays if the slices exceed L2 slightly.
int slices_together(std::int64_t cols, int slices, std::int64_t slice_bytes, const DeviceInfo& device);

/// The format to divide, and its kernels.
struct TileRequest {
  const formats::FormatView& format;
  std::int64_t n;  ///< maximum columns
  std::size_t element_bytes;
  std::span<const TileVariant> variants;
  const DeviceInfo& device;
  std::int64_t other_cost = 0;  ///< cost of other work of the same launch, in tiles
  DivideWindows divide = divide_windows;
  bool makes_masks = true;  ///< for me_tcf; false: the kernel decodes its ids
};

/// Divides the tiles of a format of any layout. Joins the stored segments of a window, because the schedule
/// splits windows itself. The same kernel processes short rows (classes) and empty rows. If the format has
/// rows with offsets, another kernel processes them and the windows without tiles.
TileHeader append_tiles(Schedule& schedule, const TileRequest& request);

/// Stored numbers of a header.
inline constexpr std::uint32_t kTileVersion = 1;
std::vector<std::int64_t> tile_numbers(const TileHeader& header);

/// Restores the result of append_tiles, and checks that every window and every tile belongs to one item or to
/// the pieces of one window, with its entries, and that short and empty rows are correct.
TileHeader read_tiles(ScheduleReader& reader, Schedule& schedule, const TileRequest& request);

}  // namespace sptile::runtime::cuda
