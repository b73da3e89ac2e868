// Device memory and times for the CUDA benchmark.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace sptile::bench {

inline void require(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "cuda_spmm_bench: %s: %s\n", what, cudaGetErrorString(code));
  std::exit(6);
}

class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::size_t bytes) { require(cudaMalloc(&data_, bytes + 1), "allocating"); }
  DeviceMemory(const void* from, std::size_t bytes) : DeviceMemory(bytes) {
    require(cudaMemcpy(data_, from, bytes, cudaMemcpyHostToDevice), "uploading");
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() { cudaFree(data_); }
  [[nodiscard]] void* get() const { return data_; }

 private:
  void* data_ = nullptr;
};

/// Median time of one launch in microseconds: 10 launches to warm up, then 5 groups of 10, the median group.
/// Launches of more than 6 ms: 2 and 5 groups of 2; of more than 20 ms: 1 and 5 single ones.
double time_launches(const std::function<void()>& launch);

/// Read plus write speed of a large copy on the device, in bytes a second.
double copy_bandwidth();

}  // namespace sptile::bench
