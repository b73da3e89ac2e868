// The selective split of RSH-SpMM (section 3.3.3) as stored in rs_tile: splits were chosen when the matrix
// was converted, for every device and every number of columns. Plain C++.
#pragma once

#include "runtime/cuda/families/tile/division.hpp"

namespace sptile::runtime::cuda {

/// Returns an item for each stored window, and for each stored piece of a split one: the thread blocks of the
/// paper's kernel.
TileSchedule divide_stored(const TileWindows& windows, const TileTuning& tuning, const DeviceInfo& device);

/// Returns the same pieces, with the windows between them in the runs of divide_windows.
TileSchedule divide_stored_runs(const TileWindows& windows, const TileTuning& tuning,
                                const DeviceInfo& device);

}  // namespace sptile::runtime::cuda
