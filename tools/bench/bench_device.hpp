// Helpers of benchmarks on CUDA device 0: errors, memory, timing.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "formats/core/error.hpp"
#include "tools/pipeline/stopwatch.hpp"

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

/// Returns the last component of a path.
inline std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Device memory, zeroed or with a copy of host memory.
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

/// Returns the used bytes of the device, including those of other processes.
inline std::int64_t device_bytes_in_use() {
  std::size_t free = 0, total = 0;
  expect(cudaDeviceSynchronize());
  expect(cudaMemGetInfo(&free, &total));
  return static_cast<std::int64_t>(total - free);
}

/// Returns the reserved (cudaMemPoolAttrReservedMemCurrent) or used bytes of a pool.
inline std::int64_t pool_bytes(cudaMemPool_t pool, cudaMemPoolAttr which) {
  std::uint64_t bytes = 0;
  expect(cudaMemPoolGetAttribute(pool, which, &bytes));
  return static_cast<std::int64_t>(bytes);
}

/// Makes the pool keep freed memory, as applications can; by default it is released.
inline Status keep_pool_memory() {
  cudaMemPool_t pool = nullptr;
  std::uint64_t everything = ~std::uint64_t{0};
  if (cudaDeviceGetDefaultMemPool(&pool, 0) != cudaSuccess ||
      cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything) != cudaSuccess)
    return fail(Errc::device, "device 0 has no pool of memory");
  return {};
}

/// Returns a quantile of a nonempty list.
inline double quantile(std::vector<double> numbers, double share) {
  const auto at =
      std::min(numbers.size() - 1, static_cast<std::size_t>(share * static_cast<double>(numbers.size())));
  std::nth_element(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(at), numbers.end());
  return numbers[at];
}
inline double median(std::vector<double> numbers) { return quantile(std::move(numbers), 0.5); }

/// Returns the microseconds of f.
inline double call_us(const std::function<void()>& f) {
  const Stopwatch watch;
  f();
  return 1e6 * watch.seconds();
}

/// Returns the median microseconds of f; `prepare` is not timed.
inline double time_us(int rounds, const std::function<void()>& prepare, const std::function<void()>& f) {
  std::vector<double> us;
  for (int i = 0; i < rounds; ++i) {
    prepare();
    cudaDeviceSynchronize();
    us.push_back(call_us(f));
  }
  return median(std::move(us));
}
inline double time_us(int rounds, const std::function<void()>& f) {
  return time_us(
      rounds, [] {}, f);
}

}  // namespace sptile::tools
