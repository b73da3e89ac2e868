// Owned device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "formats/core/error.hpp"

namespace sptile::runtime::cuda {

/// Owns bytes of device memory, aligned to 256 bytes. Small sizes are from the SmallPool.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        pool_of_(std::exchange(other.pool_of_, kNoPool)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(pool_of_, other.pool_of_);
    return *this;
  }
  /// Frees the memory once the device is idle.
  ~DeviceBuffer();

  /// Allocates on the current device; 0 bytes need no memory. Errc::device, naming the requested and free
  /// bytes, if memory is short.
  static Result<DeviceBuffer> allocate(std::size_t bytes, const char* what);

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  static constexpr int kNoPool = -1;

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  int pool_of_ = kNoPool;  ///< device of the pool that the memory is from
};

/// Returns Errc::device for a failed allocation, naming the requested and free bytes, and clears CUDA's
/// error.
tl::unexpected<Error> no_memory(cudaError_t code, std::size_t bytes, const char* what);

}  // namespace sptile::runtime::cuda
