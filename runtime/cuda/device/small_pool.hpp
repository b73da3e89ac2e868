// Little memory of devices, from pools of the library's own.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace sptile::runtime::cuda {

/// Keeps what is given back, up to a bound, for what is asked for next. Asking the device (cudaMalloc) takes
/// longer than a small product, and so does a pool that keeps nothing, as that of the device by default.
struct SmallPool {
  static constexpr std::size_t kLargest = std::size_t{8} << 20;  ///< that is asked for
  static constexpr std::uint64_t kKept = std::uint64_t{64} << 20;

  cudaMemPool_t pool = nullptr;
  cudaStream_t stream = nullptr;  ///< for memory that belongs to no other; nothing runs on it
};

/// The pool of a device, which is current; made when it is first wanted, never destroyed. Null where a device
/// has no pools.
const SmallPool* small_pool(int ordinal);

/// Takes memory of the current device that any stream may use; null when it is not little, or there is none.
void* take_small(int ordinal, std::size_t bytes);

/// Gives back memory of any pool of a device when the device has nothing left to do. Where it must not be
/// waited for (a stream is being captured) the memory goes with what is given back next.
void give_back(int ordinal, void* data);

}  // namespace sptile::runtime::cuda
