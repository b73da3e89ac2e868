// Bandwidth of host memory.
#pragma once

namespace sptile::tools {

/// Measures a copy between two arrays that exceed all caches with all OpenMP threads. Returns bytes per
/// second, reads plus writes, the best of several copies. Takes tens of milliseconds and up to 1 GiB. Returns
/// 0 if memory is insufficient.
double measure_host_copy();

}  // namespace sptile::tools
