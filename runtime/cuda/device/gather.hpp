// Permutation of values on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace sptile::runtime::cuda {

// A format stores the number of CSR entry value_source[i] at packed position i. gather converts CSR order to
// packed order, scatter packed order (results of SDDMM) to CSR order. An operation that adds to existing
// numbers (beta) gathers them first, so that its bits equal those for packed operands.

/// Enqueues to[i] = from[position[i]] for elements of 2, 4 or 8 bytes, all in device memory.
cudaError_t gather(void* to, const void* from, const std::int64_t* position, std::int64_t count,
                   std::size_t width, cudaStream_t stream);

/// Enqueues the inverse, to[position[i]] = from[i]; positions must be distinct.
cudaError_t scatter(void* to, const void* from, const std::int64_t* position, std::int64_t count,
                    std::size_t width, cudaStream_t stream);

/// Returns cudaSuccess if this build has code for the current device, otherwise the error of a launch.
cudaError_t probe_code();

}  // namespace sptile::runtime::cuda
