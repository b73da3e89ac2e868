// Acc-SpMM's adaptive load balancing (PPoPP 2025, section 3.5). Plain C++.
//
// A thread block of the paper has one row window, or, where row windows are too different, a share of all TC
// blocks in their order. Equation 4 is the time that it takes. In units of loading the rows of B of one TC
// block, K x FeatureDim elements, it is
//
//   tiles + write-backs of row windows * M / K + a constant
//
// where M = K = 8: a row window that is written costs what a tile does. The bandwidth is the unit, and the
// time of one MMA, all that the pipeline leaves visible, is the same for every thread block: balancing needs
// neither. (The third term is printed as the first once more. Its text says what is meant here: each row
// window that a thread block has a part in is written back once.)
#pragma once

#include <cstdint>
#include <span>

#include "runtime/cuda/families/tile/division.hpp"

namespace sptile::runtime::cuda {

inline constexpr double kAccImbalance = 8;         ///< degree above which a matrix is balanced
inline constexpr std::int64_t kAccMostTiles = 32;  ///< of a thread block

/// IBD, the mean deviation of windows from their average number of tiles (equation 3); 0 without windows.
double acc_imbalance(std::span<const std::int32_t> tile_offset);

/// Time that each thread block should take, in loads of a tile: with as many thread blocks as there are
/// windows, or with more where they would have more than kAccMostTiles.
std::int64_t acc_block_time(const TileWindows& windows);

/// One window after the other, each whole and alone.
TileSchedule divide_acc_windows(const TileWindows& windows, const TileTuning& tuning,
                                const DeviceInfo& device);

/// Thread blocks of equal time. One that begins or ends inside a window is up to three items here: a piece at
/// either end, and the whole windows between them.
TileSchedule divide_acc_balanced(const TileWindows& windows, const TileTuning& tuning,
                                 const DeviceInfo& device);

/// The latter where the degree of imbalance is above kAccImbalance, else the former.
TileSchedule divide_acc(const TileWindows& windows, const TileTuning& tuning, const DeviceInfo& device);

}  // namespace sptile::runtime::cuda
