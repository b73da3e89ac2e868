// Moving values on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace sptile::runtime::cuda {

// Numbers per entry, packed as a format has them, stand in CSR order at its value_source: gather takes
// numbers in CSR order to packed order, scatter takes packed ones (results of SDDMM) to CSR order. A product
// that adds to old numbers (beta) first has them gathered: then its bits are those of packed operands.

/// Enqueues to[i] = from[position[i]] for elements of 2, 4 or 8 bytes, all in device memory.
cudaError_t gather(void* to, const void* from, const std::int64_t* position, std::int64_t count,
                   std::size_t width, cudaStream_t stream);

/// Enqueues the way back, to[position[i]] = from[i]; no position may be there twice.
cudaError_t scatter(void* to, const void* from, const std::int64_t* position, std::int64_t count,
                    std::size_t width, cudaStream_t stream);

/// Tells whether this build has code for the current device: cudaSuccess, or what launching would say.
cudaError_t probe_code();

}  // namespace sptile::runtime::cuda
