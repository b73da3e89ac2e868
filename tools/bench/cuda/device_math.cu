#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "tools/bench/cuda/device_math.hpp"

namespace sptile::bench {
namespace {

constexpr int kThreads = 256;

void require(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "cuda_spmm_bench: %s\n", cudaGetErrorString(code));
  std::exit(6);
}

unsigned blocks_for(std::int64_t count) {
  const std::int64_t blocks = (count + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < 1 << 20 ? blocks : 1 << 20);
}

__device__ double widen(float x) { return x; }
__device__ double widen(double x) { return x; }
__device__ double widen(__half x) { return __half2float(x); }
__device__ double widen(__nv_bfloat16 x) { return __bfloat162float(x); }

__device__ std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

template <class T>
__global__ void fill(T* to, std::int64_t count, double low, double high, std::uint64_t seed) {
  for (std::int64_t i = std::int64_t{kThreads} * blockIdx.x + threadIdx.x; i < count;
       i += std::int64_t{kThreads} * gridDim.x) {
    const double unit =
        static_cast<double>(mix(mix(seed) + static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ull) >> 40) *
        0x1p-24;
    to[i] = T(static_cast<float>(low + (high - low) * unit));
  }
}

template <class T>
__global__ void multiply(DeviceCsr a, const T* b, double* c, std::int64_t n) {
  const std::int64_t count = a.rows * n;
  for (std::int64_t i = std::int64_t{kThreads} * blockIdx.x + threadIdx.x; i < count;
       i += std::int64_t{kThreads} * gridDim.x) {
    const std::int64_t row = i / n, column = i % n;
    double sum = 0;
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      sum += widen(static_cast<const T*>(a.values)[k]) * widen(b[a.columns[k] * n + column]);
    c[i] = sum;
  }
}

template <class T>
__global__ void squares(const T* x, const double* reference, std::int64_t count, double* sums) {
  double difference = 0, norm = 0;
  for (std::int64_t i = std::int64_t{kThreads} * blockIdx.x + threadIdx.x; i < count;
       i += std::int64_t{kThreads} * gridDim.x) {
    const double d = widen(x[i]) - reference[i];
    difference += d * d;
    norm += reference[i] * reference[i];
  }
  atomicAdd(sums, difference);
  atomicAdd(sums + 1, norm);
}

/// Calls f with a null pointer of the element type.
template <class F>
void with_type(DType dtype, F f) {
  if (dtype == DType::f32) f(static_cast<float*>(nullptr));
  if (dtype == DType::f64) f(static_cast<double*>(nullptr));
  if (dtype == DType::f16) f(static_cast<__half*>(nullptr));
  if (dtype == DType::bf16) f(static_cast<__nv_bfloat16*>(nullptr));
}

}  // namespace

void fill_uniform(void* to, DType dtype, std::int64_t count, double low, double high, std::uint64_t seed) {
  with_type(dtype, [&]<class T>(T*) {
    fill<<<blocks_for(count), kThreads>>>(static_cast<T*>(to), count, low, high, seed);
  });
  require(cudaGetLastError());
}

void reference_spmm(const DeviceCsr& a, const void* b, double* c, std::int64_t n) {
  with_type(a.dtype, [&]<class T>(T*) {
    multiply<<<blocks_for(a.rows * n), kThreads>>>(a, static_cast<const T*>(b), c, n);
  });
  require(cudaDeviceSynchronize());
}

double frobenius_distance(const void* x, DType dtype, const double* reference, std::int64_t count) {
  double* sums = nullptr;
  require(cudaMalloc(&sums, 2 * sizeof(double)));
  require(cudaMemset(sums, 0, 2 * sizeof(double)));
  with_type(dtype, [&]<class T>(T*) {
    squares<<<1024, kThreads>>>(static_cast<const T*>(x), reference, count, sums);
  });
  double host[2];
  require(cudaMemcpy(host, sums, sizeof(host), cudaMemcpyDeviceToHost));
  require(cudaFree(sums));
  return host[0] == 0 ? 0 : std::sqrt(host[0] / host[1]);
}

}  // namespace sptile::bench
