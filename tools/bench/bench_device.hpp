// Errors, device memory and medians of the benchmarks of CUDA device 0.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "formats/core/error.hpp"

namespace sptile::tools {

inline void expect(bool good, const std::string& what) {
  if (good) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(static_cast<int>(Errc::device));
}
inline void expect(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.error().text().c_str());
  std::exit(static_cast<int>(status.error().code));
}
template <class T>
T expect(Result<T> result) {
  if (!result) expect(Status(tl::unexpected(result.error())));
  return std::move(*result);
}
inline void expect(cudaError_t code) { expect(code == cudaSuccess, cudaGetErrorString(code)); }

/// Last component of a path.
inline std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Device memory, zero-initialized or a copy of host memory.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    expect(cudaMalloc(&data_, bytes));
    expect(cudaMemset(data_, 0, bytes));
  }
  DeviceBytes(const void* from, std::size_t bytes) : DeviceBytes(bytes) {
    if (bytes > 0) expect(cudaMemcpy(data_, from, bytes, cudaMemcpyHostToDevice));
  }
  DeviceBytes(DeviceBytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  DeviceBytes& operator=(DeviceBytes&&) = delete;
  ~DeviceBytes() { cudaFree(data_); }

  [[nodiscard]] void* get() const { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

/// Median of a list that is not empty.
inline double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

}  // namespace sptile::tools
