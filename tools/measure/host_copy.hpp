// How fast the memory of this machine is.
#pragma once

namespace sptile::tools {

/// Measures a copy between two arrays that no cache holds: bytes a second, reads plus writes, by all threads
/// that OpenMP has. The best of a few; some tens of milliseconds, up to 1 GiB for as long. 0 without room.
double measure_host_copy();

}  // namespace sptile::tools
