// Acc-SpMM's adaptive load balancing (PPoPP 2025, section 3.5). Plain C++.
//
// A thread block of the paper has one row window or, if row windows are too different, a share of all TC
// blocks in order. Equation 4 is its time. In units of loading the rows of B of one TC block, K x FeatureDim
// elements, it is
//
//   tiles + write-backs of row windows * M / K + a constant
//
// where M = K = 8: writing a row window costs as much as a tile. The bandwidth is the unit, and the time of
// one MMA, the only part that the pipeline does not hide, is equal for every thread block, so balancing needs
// neither. (The paper prints the first term again as the third. Its text describes the formula above: each
// row window of which a thread block has a part is written back once.)
#pragma once

#include <cstdint>
#include <span>

#include "runtime/cuda/families/tile/division.hpp"

namespace sptile::runtime::cuda {

inline constexpr double kAccImbalance = 8;         ///< degree above which a matrix is balanced
inline constexpr std::int64_t kAccMostTiles = 32;  ///< per thread block

/// Returns IBD, the mean deviation of windows from their average number of tiles (equation 3); 0 without
/// windows.
double acc_imbalance(std::span<const std::int32_t> tile_offset);

/// Returns the target time of each thread block, in loads of a tile: with one thread block per window, or
/// more if they would exceed kAccMostTiles.
std::int64_t acc_block_time(const TileWindows& windows);

/// Returns complete windows, one per item.
TileSchedule divide_acc_windows(const TileWindows& windows, const TileTuning& tuning,
                                const DeviceInfo& device);

/// Returns thread blocks of equal time. One that begins or ends within a window becomes up to three items: a
/// piece at either end, and the complete windows between them.
TileSchedule divide_acc_balanced(const TileWindows& windows, const TileTuning& tuning,
                                 const DeviceInfo& device);

/// Divides by divide_acc_balanced if the degree of imbalance exceeds kAccImbalance, otherwise by
/// divide_acc_windows.
TileSchedule divide_acc(const TileWindows& windows, const TileTuning& tuning, const DeviceInfo& device);

}  // namespace sptile::runtime::cuda
