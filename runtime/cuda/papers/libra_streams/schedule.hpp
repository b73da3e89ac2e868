// The schedule of libra_spmm as Libra has it: segments of libra_balance, on one stream or on two. Plain C++.
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

/// What launching reads; `..._at` are offsets in Schedule::bytes.
struct LibraStreamsHeader {
  HybridHeader parts;
  std::int64_t row_atomic_at = 0;  ///< of the residual rows: 1 where others add to the same row
  std::int64_t scaled_rows_at = 0, scaled_rows = 0;  ///< of C, that are to be beta * C before the parts run
  LibraRatios ratios;                                ///< that choose_mode compared
  bool two_streams = false;
};

/// Numbers that a device's profile may have for the kernels; those that it lacks, or that are not positive,
/// are the paper's.
inline constexpr std::string_view kLibraOccupancyCosts[] = {"occupancy_tiles", "occupancy_rows"};
LibraOccupancy libra_occupancy(const ScheduleRequest& request);

/// What differs between the kernels of this kind.
struct LibraPolicy {
  LibraSizes sizes = {};
  std::optional<LibraMode> mode = {};  ///< not set: by occupancy
};

/// What is asked of the kernels: variants for the tiles, and how many blocks of each kernel fit on a
/// multiprocessor.
struct LibraKernels {
  DType dense;  ///< of values and of B
  std::span<const TileVariant> variants;
  int (*tile_blocks_per_sm)(int variant, int threads);
  int (*row_blocks_per_sm)(int lanes);
  int row_threads;  ///< of a block
};

Schedule schedule_libra_streams(const ScheduleRequest& request, const LibraPolicy& policy,
                                const LibraKernels& kernels);

}  // namespace sptile::runtime::cuda
