// Pools for small device allocations.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace sptile::runtime::cuda {

/// Retains freed memory, up to a bound, for later allocations. cudaMalloc takes longer than a small SpMM, and
/// so does a pool that retains nothing, the default of a device.
struct SmallPool {
  static constexpr std::size_t kLargest = std::size_t{8} << 20;  ///< maximum allocation
  static constexpr std::uint64_t kKept = std::uint64_t{64} << 20;

  cudaMemPool_t pool = nullptr;
  cudaStream_t stream = nullptr;  ///< idle stream for allocations that any stream may use
};

/// Returns the pool of the current device, created at the first call and never destroyed. Null if the device
/// does not support pools.
const SmallPool* small_pool(int ordinal);

/// Allocates memory of the current device that any stream may use; null if `bytes` is too large or memory is
/// short.
void* take_small(int ordinal, std::size_t bytes);

/// Frees memory of any pool of a device once the device is idle. If waiting is not allowed (a stream is being
/// captured), the memory is freed with the next call.
void give_back(int ordinal, void* data);

}  // namespace sptile::runtime::cuda
