// From a checked format with tiles to the schedule of its kernels, and what a launch reads back from it.
// Plain C++.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/cuda/device/me_tcf_masks.hpp"
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/families/tile/division.hpp"
#include "runtime/cuda/stored_schedule.hpp"

namespace sptile::runtime::cuda {

/// What launching reads; `..._at` are offsets in Schedule::bytes, -1: the format's own array.
struct TileHeader {
  std::int64_t items_at = 0, item_count = 0;
  std::int64_t splits_at = 0, split_count = 0;
  std::int64_t masks_at = -1;       ///< 16-byte masks made for me_tcf
  std::int64_t window_row_at = -1;  ///< first rows of the windows that are multiplied
  std::int64_t window_tile_at = -1;
  std::int64_t short_at = 0, short_count = 0;  ///< of rows in classes
  std::int64_t empty_rows_at = 0;
  ScheduleScratch scratch;
  int variant = 0;  ///< which kernel of the family, by features of a warp
  int slices_together = 0;
  int warps_per_block = 0;
  int teams = 0;  ///< blocks, for each slice, whose warps share a window
};

/// Features that a warp of each variant of a kernel family has, and how many of its warps fit on a
/// multiprocessor.
struct TileVariant {
  int features;
  int elements;  ///< consecutive ones that a lane moves at once
  int warps_per_sm;
  int least_cost;  ///< in tiles, that each of these warps should find: wide warps are few
};

/// Chooses the variant with the fewest warps per item that leaves no more than a quarter of its features
/// idle and has work for all of its warps.
int choose_variant(std::span<const TileVariant> variants, std::int64_t n, std::int64_t cost,
                   const DeviceInfo& device);

/// Least number of columns for which the same variant would be chosen, where it is for n columns of which
/// whole pieces are moved, and has as many slices.
std::int64_t tile_least_n(std::span<const TileVariant> variants, int chosen, std::int64_t n);

/// Slices of B that are multiplied at the same time. When all of B does not fit in the L2 cache but some
/// slices do, the items run through all of A for these before they go on to the next: A is read more often,
/// but B, which is most of the traffic, from the cache. The cache still serves well when the slices are a
/// little larger than it is.
int slices_together(std::int64_t cols, int slices, std::int64_t slice_bytes, const DeviceInfo& device);

/// What is divided, for which kernels.
struct TileRequest {
  const formats::FormatView& format;
  std::int64_t n;  ///< columns, at most
  std::size_t element_bytes;
  std::span<const TileVariant> variants;
  const DeviceInfo& device;
  std::int64_t other_cost = 0;  ///< cost of other work of the same launch, in tiles
  DivideWindows divide = divide_windows;
};

/// Divides the tiles of a format of any layout. Stored pieces of a window are joined: the schedule makes
/// pieces of its own. Entries in rows of few entries each (classes) are the work of the same kernel, and so
/// are rows that nothing is stored for; rows with offsets are left to another kernel, and with them windows
/// without tiles.
TileHeader append_tiles(Schedule& schedule, const TileRequest& request);

/// What is stored of a header.
inline constexpr std::uint32_t kTileVersion = 1;
std::vector<std::int64_t> tile_numbers(const TileHeader& header);

/// Reads back what append_tiles appended, and proves that every window and every tile is the work of one item
/// or of the pieces of one window, that their entries are theirs, and that short and empty rows are as they
/// are.
TileHeader read_tiles(ScheduleReader& reader, Schedule& schedule, const TileRequest& request);

}  // namespace sptile::runtime::cuda
