// From a checked tile format to the schedule of its kernels, and what a launch reads back from it. Plain C++.
#pragma once

#include <cstdint>
#include <span>

#include "formats/layout/me_tcf.hpp"
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/tile/division.hpp"

namespace sptile::runtime::cuda {

/// Places of the numbers in Schedule::numbers. `..._at` are byte offsets in Schedule::bytes.
enum TileNumber {
  kItemsAt,
  kItemCount,
  kSplitsAt,
  kSplitCount,
  kPartialsAt,  ///< in the workspace, behind the counters
  kShortAt,
  kShortCount,
  kEmptyRowsAt,
  kMasksAt,       ///< 16-byte masks made for me_tcf; -1: the format's own
  kWindowRowAt,   ///< first rows of the windows, pieces joined; -1: the format's own
  kWindowTileAt,  ///< first tiles of the windows, pieces joined; -1: the format's own
  kVariant,       ///< which kernel of the family, by features of a warp
  kSlicesTogether,
  kWarpsPerBlock,
  kTeams  ///< blocks, for each slice, whose warps share a window
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

/// Slices of B that are multiplied at the same time. When all of B does not fit in the L2 cache but some
/// slices do, the items run through all of A for these before they go on to the next: A is read more often,
/// but B, which is most of the traffic, from the cache. The cache still serves well when the slices are a
/// little larger than it is.
int slices_together(std::int64_t cols, int slices, std::int64_t slice_bytes, const DeviceInfo& device);

/// Appends a mask of 16 bytes for each tile of me_tcf, bit 8 * row + column; gives their offset. O(nnz).
std::int64_t append_masks(Schedule& schedule, const formats::MeTcfView& a);

Schedule schedule_bittcf(const formats::FormatView& format, std::int64_t n, std::size_t element_bytes,
                         std::span<const TileVariant> variants, const DeviceInfo& device);
Schedule schedule_rs_tile(const formats::FormatView& format, std::int64_t n, std::size_t element_bytes,
                          std::span<const TileVariant> variants, const DeviceInfo& device);
/// The TC part of libra_spmm. Windows without tiles are left to the residual part, if there is one.
Schedule schedule_libra_tiles(const formats::FormatView& format, std::int64_t n, std::size_t element_bytes,
                              std::span<const TileVariant> variants, const DeviceInfo& device);
Schedule schedule_me_tcf(const formats::FormatView& format, std::int64_t n, std::size_t element_bytes,
                         std::span<const TileVariant> variants, const DeviceInfo& device);
Schedule schedule_bmat(const formats::FormatView& format, std::int64_t n, std::size_t element_bytes,
                       std::span<const TileVariant> variants, const DeviceInfo& device);

}  // namespace sptile::runtime::cuda
