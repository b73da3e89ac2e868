// Memory that the steps of a stream work in, given back in the order of the stream.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/cuda/device/device_buffer.hpp"

namespace sptile::runtime::cuda {

/// Allocates on the current device, which must still be current when the memory goes; the stream must live as
/// long. The memory is from the device's current pool, if there are pools. But much memory that the pool
/// would return at once (its release threshold, which is the application's) is plain device memory, that goes
/// when the stream has nothing left to do: on an H100 a pool that keeps nothing takes 1.6 ms for a gigabyte
/// and 1.9 ms to return it, cudaMalloc 0.3 and 0.8, but for little it is the other way round.
class WorkMemory {
 public:
  explicit WorkMemory(cudaStream_t stream) : stream_(stream) {
    int device = 0, pools = 0;
    cudaMemPool_t pool = nullptr;
    pools_ = cudaGetDevice(&device) == cudaSuccess &&
             cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, device) == cudaSuccess &&
             pools != 0 && cudaDeviceGetMemPool(&pool, device) == cudaSuccess &&
             cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept_) == cudaSuccess;
  }

  /// For steps that are enqueued from now on. Errc::device as DeviceBuffer::allocate.
  [[nodiscard]] Result<std::shared_ptr<std::byte>> allocate(std::size_t bytes, const char* what) const {
    if (bytes == 0) return std::shared_ptr<std::byte>();
    return pools_ && bytes <= std::max(kept_, kLittle) ? from_pool(bytes, what) : plain(bytes, what);
  }

 private:
  [[nodiscard]] Result<std::shared_ptr<std::byte>> from_pool(std::size_t bytes, const char* what) const {
    void* data = nullptr;
    if (const cudaError_t code = cudaMallocAsync(&data, bytes, stream_); code != cudaSuccess)
      return no_memory(code, bytes, what);
    return std::shared_ptr<std::byte>(static_cast<std::byte*>(data),
                                      [stream = stream_](std::byte* x) { cudaFreeAsync(x, stream); });
  }
  [[nodiscard]] Result<std::shared_ptr<std::byte>> plain(std::size_t bytes, const char* what) const {
    auto buffer = DeviceBuffer::allocate(bytes, what);
    if (!buffer) return tl::unexpected(buffer.error());
    std::byte* const data = buffer->data();
    return std::shared_ptr<std::byte>(
        data, [stream = stream_, owner = std::make_shared<DeviceBuffer>(std::move(*buffer))](std::byte*) {
          cudaStreamSynchronize(stream);
        });
  }

  static constexpr std::uint64_t kLittle = 256 << 20;

  cudaStream_t stream_;
  bool pools_ = false;
  std::uint64_t kept_ = 0;  ///< bytes that the pool keeps
};

}  // namespace sptile::runtime::cuda
