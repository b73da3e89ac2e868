// Owned device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "formats/core/error.hpp"

namespace sptile::runtime::cuda {

/// Owns bytes of device memory, at an address that is a multiple of 256. Little is from the SmallPool.
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
  /// When the device has nothing left to do.
  ~DeviceBuffer();

  /// Allocates on the current device; 0 bytes need no memory. Errc::device naming the bytes, and those free,
  /// when there is no room.
  static Result<DeviceBuffer> allocate(std::size_t bytes, const char* what);

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  static constexpr int kNoPool = -1;

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  int pool_of_ = kNoPool;  ///< the device whose pool it is from
};

/// Errc::device for an allocation that failed, naming the bytes, and those free; CUDA forgets the error.
tl::unexpected<Error> no_memory(cudaError_t code, std::size_t bytes, const char* what);

}  // namespace sptile::runtime::cuda
