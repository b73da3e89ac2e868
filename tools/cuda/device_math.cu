#include "tools/cuda/device_math.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cfloat>
#include <cmath>
#include <cstring>

namespace sptile::tools::cuda {
namespace {

constexpr int kThreads = 256;

unsigned blocks_for(std::int64_t count) {
  const std::int64_t blocks = (count + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks < 1 << 20 ? blocks : 1 << 20);
}

__device__ std::int64_t first_element() { return std::int64_t{kThreads} * blockIdx.x + threadIdx.x; }
__device__ std::int64_t stride() { return std::int64_t{kThreads} * gridDim.x; }

__device__ double widen(float x) { return x; }
__device__ double widen(double x) { return x; }
__device__ double widen(__half x) { return __half2float(x); }
__device__ double widen(__nv_bfloat16 x) { return __bfloat162float(x); }

// The finaliser of SplitMix64; see formats/random.hpp.
__device__ std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

template <class T>
__global__ void fill(T* to, std::int64_t count, double low, double high, std::uint64_t seed) {
  const std::uint64_t start = mix(seed);
  for (std::int64_t i = first_element(); i < count; i += stride()) {
    const std::uint64_t bits = mix(start + static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ull);
    to[i] = T(static_cast<float>(low + (high - low) * static_cast<double>(bits >> 40) * 0x1p-24));
  }
}

template <class T>
__global__ void multiply(DeviceCsr a, const T* b, double* sums, float* absolute_sums, std::int64_t n) {
  for (std::int64_t i = first_element(); i < a.rows * n; i += stride()) {
    const std::int64_t row = i / n, column = i % n;
    double sum = 0, absolute = 0;
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
      const double product = widen(static_cast<const T*>(a.values)[k]) * widen(b[a.columns[k] * n + column]);
      sum += product;
      absolute += fabs(product);
    }
    sums[i] = sum;
    absolute_sums[i] = static_cast<float>(absolute);
  }
}

struct Sums {
  double difference, norm;              // squares
  unsigned long long largest_relative;  // the bits of a double that is not negative: they compare like it
};

template <class T>
__global__ void compare(const T* x, const double* sums, const float* absolute_sums, std::int64_t count,
                        double smallest, Sums* result) {
  double difference = 0, norm = 0, largest = 0;
  for (std::int64_t i = first_element(); i < count; i += stride()) {
    const double value = widen(x[i]), d = value - sums[i];
    difference += d * d;
    norm += sums[i] * sums[i];
    const double relative = fabs(d) / (absolute_sums[i] + smallest);
    largest = isfinite(value) ? fmax(largest, relative) : HUGE_VAL;
  }
  atomicAdd(&result->difference, difference);
  atomicAdd(&result->norm, norm);
  atomicMax(&result->largest_relative, static_cast<unsigned long long>(__double_as_longlong(largest)));
}

__global__ void read(const uint4* from, std::int64_t count, int passes, unsigned* sink) {
  unsigned folded = 0;
  for (int pass = 0; pass < passes; ++pass)
#pragma unroll 8
    for (std::int64_t i = first_element(); i < count; i += stride()) {
      const uint4 x = __ldcg(from + i);
      folded ^= x.x ^ x.y ^ x.z ^ x.w;
    }
  if (folded == 0x9e3779b9u) *sink = folded;  // so that the reads are needed
}

/// Calls f with a null pointer of the element type.
template <class F>
void with_type(DType dtype, F f) {
  if (dtype == DType::f32) f(static_cast<float*>(nullptr));
  if (dtype == DType::f64) f(static_cast<double*>(nullptr));
  if (dtype == DType::f16) f(static_cast<__half*>(nullptr));
  if (dtype == DType::bf16) f(static_cast<__nv_bfloat16*>(nullptr));
}

double smallest_normal(DType dtype) {
  return dtype == DType::f16 ? 0x1p-14 : dtype == DType::f64 ? DBL_MIN : FLT_MIN;
}

}  // namespace

int fill_uniform(void* to, DType dtype, std::int64_t count, double low, double high, std::uint64_t seed) {
  with_type(dtype, [&]<class T>(T*) {
    fill<<<blocks_for(count), kThreads>>>(static_cast<T*>(to), count, low, high, seed);
  });
  return cudaGetLastError();
}

int reference_spmm(const DeviceCsr& a, const void* b, double* sums, float* absolute_sums, std::int64_t n) {
  with_type(a.dtype, [&]<class T>(T*) {
    multiply<<<blocks_for(a.rows * n), kThreads>>>(a, static_cast<const T*>(b), sums, absolute_sums, n);
  });
  const cudaError_t launched = cudaGetLastError();
  return launched != cudaSuccess ? launched : cudaDeviceSynchronize();
}

int measure_errors(const void* x, DType dtype, const double* sums, const float* absolute_sums,
                   std::int64_t count, Errors& errors) {
  Sums* device = nullptr;
  Sums host{};
  cudaError_t code = cudaMalloc(&device, sizeof(Sums));
  if (code == cudaSuccess) code = cudaMemset(device, 0, sizeof(Sums));
  if (code == cudaSuccess) {
    with_type(dtype, [&]<class T>(T*) {
      compare<<<1024, kThreads>>>(static_cast<const T*>(x), sums, absolute_sums, count,
                                  smallest_normal(dtype), device);
    });
    code = cudaMemcpy(&host, device, sizeof(Sums), cudaMemcpyDeviceToHost);
  }
  cudaFree(device);
  std::memcpy(&errors.relative, &host.largest_relative, sizeof(double));
  errors.frobenius = host.difference == 0 ? 0 : std::sqrt(host.difference / host.norm);
  return code;
}

int read_repeatedly(const void* from, std::size_t bytes, int passes, int blocks, void* sink) {
  read<<<static_cast<unsigned>(blocks), kThreads>>>(static_cast<const uint4*>(from),
                                                    static_cast<std::int64_t>(bytes / sizeof(uint4)), passes,
                                                    static_cast<unsigned*>(sink));
  return cudaGetLastError();
}

}  // namespace sptile::tools::cuda
