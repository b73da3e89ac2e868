// The schedule of libra_spmm as Libra has it: segments of libra_balance, on one stream or on two. Plain C++.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "runtime/cuda/papers/libra_streams/balance.hpp"
#include "runtime/cuda/tile/schedule.hpp"

namespace sptile::runtime::cuda {

/// Numbers of the whole schedule, which has a part for the tiles and one for the rows.
enum LibraStreamsNumber {
  kScaledRowsAt,  ///< rows of C that are to be beta * C before the parts run
  kScaledRows,
  kTilesRatio,  ///< occupancy ratios, in 1 / kRatioUnit
  kRowsRatio
};
inline constexpr double kRatioUnit = 1e6;

/// What choose_mode compared, of a schedule of schedule_libra_streams.
LibraRatios ratios_of(const Schedule& schedule);

/// Reads the thresholds that the device's profile has for cuda.libra_spmm.streams (numbers occupancy_tiles
/// and occupancy_rows); those that it lacks, or that are not positive, are the paper's.
LibraOccupancy libra_occupancy(const DeviceInfo& device);

/// What differs between the kernels of this kind.
struct LibraPolicy {
  LibraSizes sizes = {};
  std::optional<LibraMode> mode = {};  ///< not set: by occupancy
};

/// What is asked of the kernels: variants for the tiles, and how many blocks of each kernel fit on a
/// multiprocessor.
struct LibraKernels {
  std::span<const TileVariant> variants;
  int (*tile_blocks_per_sm)(int variant, int threads);
  int (*row_blocks_per_sm)(int lanes);
  int row_threads;  ///< of a block
};

/// Schedules f32 operands.
Schedule schedule_libra_streams(const formats::LibraView& a, std::int64_t n, const LibraPolicy& policy,
                                const LibraKernels& kernels, const DeviceInfo& device);

}  // namespace sptile::runtime::cuda
