// Schedule of libra_spmm with Libra's policy: segments of LibraBalance, on one stream or on two. Plain C++.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "runtime/cuda/families/tile/hybrid_schedule.hpp"
#include "runtime/cuda/papers/libra_streams/balance.hpp"

namespace sptile::runtime::cuda {

/// Slot of an item whose sums are added to C: part of a window, or all of it.
inline constexpr std::int32_t kAddedSlot = -2;

/// A short row, which one group of lanes multiplies.
struct alignas(16) ShortSegment {
  std::int64_t entry;     ///< first residual entry
  std::int32_t row;       ///< ~row: added to the sums of the tiles
  std::uint16_t entries;  ///< > 0
  std::uint16_t atomic;   ///< 1 if others add to the same row
};
static_assert(sizeof(ShortSegment) == 16);

/// Launch parameters; `..._at` are offsets in Schedule::bytes. The csr part of `parts` has the long rows
/// only.
struct LibraStreamsHeader {
  HybridHeader parts;
  std::int64_t row_atomic_at = 0;              ///< per residual segment: 1 if others add to the same row
  std::int64_t short_at = 0, short_count = 0;  ///< ShortSegments
  std::int64_t scaled_rows_at = 0, scaled_rows = 0;  ///< rows of C to scale by beta before the parts run
  LibraRatios ratios;                                ///< ratios that choose_mode compared
  bool two_streams = false;
};

/// Names of the thresholds in the device's profile.
inline constexpr std::string_view kLibraOccupancyCosts[] = {"occupancy_tiles", "occupancy_rows"};

/// Returns the thresholds of the profile; missing or nonpositive ones have the values of the paper.
LibraOccupancy libra_occupancy(const ScheduleRequest& request);

/// Options in which the kernels of the paper differ.
struct LibraPolicy {
  LibraSizes sizes = {};
  std::optional<LibraMode> mode = {};  ///< unset: chosen by occupancy
  bool fitted = false;                 ///< the mode is chosen by the thresholds of the profile
};

/// balance_on_device, or null.
using CutOnDevice = Result<DeviceBalance> (*)(const formats::LibraView& a, const LibraSizes& sizes,
                                              int block_tiles);

/// Cuts the segments on the device if the matrix is there, otherwise on the host, as also if the device has
/// no memory left. `flags` is empty if the host has cut them.
DeviceBalance cut_segments(const ScheduleRequest& request, const LibraSizes& sizes, int block_tiles,
                           CutOnDevice on_device);

/// Properties of the kernels: variants for the tiles, and resident blocks per multiprocessor and threads per
/// block of each kernel.
struct LibraKernels {
  DType dense;  ///< type of values and of B
  std::span<const TileVariant> variants;
  int (*tile_blocks_per_sm)(int variant, int threads);
  int (*row_blocks_per_sm)(int lanes);
  int row_threads;
  int (*short_blocks_per_sm)(int lanes);
  int short_threads;
  CutOnDevice cut = nullptr;
};

Schedule schedule_libra_streams(const ScheduleRequest& request, const LibraPolicy& policy,
                                const LibraKernels& kernels);

}  // namespace sptile::runtime::cuda
