// Moving values on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace sptile::runtime::cuda {

/// Enqueues to[i] = from[position[i]] for elements of 2, 4 or 8 bytes, all in device memory.
cudaError_t gather(void* to, const void* from, const std::int64_t* position, std::int64_t count,
                   std::size_t width, cudaStream_t stream);

/// Tells whether this build has code for the current device: cudaSuccess, or what launching would say.
cudaError_t probe_code();

}  // namespace sptile::runtime::cuda
