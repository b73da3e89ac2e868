#include "runtime/cuda/device/device_buffer.hpp"

#include <string>

#include "runtime/cuda/device/small_pool.hpp"

namespace sptile::runtime::cuda {

tl::unexpected<Error> no_memory(cudaError_t code, std::size_t bytes, const char* what) {
  cudaGetLastError();  // clears the reported error, which later calls would return again
  std::size_t free = 0, total = 0;
  const bool known = cudaMemGetInfo(&free, &total) == cudaSuccess;
  return fail(Errc::device,
              std::string(what) + " needs " + std::to_string(bytes) + " bytes of device memory" +
                  (known ? ", " + std::to_string(free) + " of " + std::to_string(total) + " are free" : "") +
                  ": " + cudaGetErrorString(code));
}

Result<DeviceBuffer> DeviceBuffer::allocate(std::size_t bytes, const char* what) {
  DeviceBuffer buffer;
  if (bytes == 0) return buffer;
  int ordinal = 0;
  if (const cudaError_t code = cudaGetDevice(&ordinal); code != cudaSuccess)
    return no_memory(code, bytes, what);
  void* data = take_small(ordinal, bytes);
  if (data != nullptr)
    buffer.pool_of_ = ordinal;
  else if (const cudaError_t code = cudaMalloc(&data, bytes); code != cudaSuccess)
    return no_memory(code, bytes, what);
  buffer.data_ = static_cast<std::byte*>(data);
  buffer.bytes_ = bytes;
  return buffer;
}

DeviceBuffer::~DeviceBuffer() {
  if (data_ == nullptr) return;
  if (pool_of_ != kNoPool)
    give_back(pool_of_, data_);
  else
    cudaFree(data_);
}

}  // namespace sptile::runtime::cuda
