// Schedule of SDDMM of libra_sddmm with Libra's balance and scheduling. Plain C++.
//
// Each nonzero has a separate result, so the two parts share no results: the segments are those of SpMM
// (section 4.3) without atomic additions, and two streams cost nothing but the fork and the join.
#pragma once

#include <cstdint>

#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/families/sddmm/schedule.hpp"
#include "runtime/cuda/papers/libra_streams/schedule.hpp"

namespace sptile::runtime::cuda {

/// Residual nonzeros of one row.
struct alignas(16) SddmmSegment {
  std::int64_t entry;    ///< first residual entry
  std::int32_t row;      ///< row of the format
  std::int32_t entries;  ///< > 0
};
static_assert(sizeof(SddmmSegment) == 16);

/// Launch parameters; `..._at` are offsets in Schedule::bytes.
struct LibraSddmmHeader {
  SddmmHeader parts;                           ///< items of the tiles; runs is 0
  std::int64_t long_at = 0, long_count = 0;    ///< segments of long rows: a warp each
  std::int64_t short_at = 0, short_count = 0;  ///< short rows: a group of lanes each
  std::int64_t short_entries = 0;              ///< maximum entries of a short row
  LibraRatios ratios;                          ///< for one head
  bool fixed_mode = false;                     ///< the mode does not depend on the ratios
  bool two_streams = false;                    ///< mode for one head

  /// Returns whether a launch of `heads` heads, whose grids are `heads` times as large, uses two streams.
  [[nodiscard]] bool concurrent(std::int64_t heads) const {
    const auto times = static_cast<double>(heads);
    return two_streams &&
           (fixed_mode || choose_mode({times * ratios.tiles, times * ratios.rows}) == LibraMode::two_streams);
  }
};

/// Resident blocks per multiprocessor of the kernels for a number of features, and the warps and groups of
/// lanes of a block.
struct LibraSddmmKernels {
  int tile_blocks_per_sm, long_blocks_per_sm, short_blocks_per_sm;
  int warps, short_groups;
  CutOnDevice cut = nullptr;
};

/// Divides the tiles into segments of `sizes.blocks` 8x16 blocks and the residual part into segments of
/// rows. Uses the thresholds of the paper, which are for SpMM and SDDMM.
Schedule schedule_libra_sddmm(const ScheduleRequest& request, const LibraPolicy& policy,
                              const LibraSddmmKernels& kernels);

}  // namespace sptile::runtime::cuda
