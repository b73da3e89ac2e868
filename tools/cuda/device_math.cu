#include "tools/cuda/device_math.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "runtime/core/attention_operands.hpp"
#include "runtime/operation/attention.hpp"
#include "runtime/operation/sddmm.hpp"
#include "runtime/operation/softmax_rows.hpp"
#include "runtime/operation/spmm.hpp"
#include "runtime/operation/spmm_update.hpp"
#include "runtime/operation/update_gradient.hpp"

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

// The finaliser of SplitMix64; see formats/core/random.hpp.
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

constexpr int kTeam = 8;  // threads per entry

/// Returns the last row that starts at or before entry k.
__device__ std::int64_t row_of(const DeviceCsr& a, std::int64_t k) {
  std::int64_t low = 0, high = a.rows;
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (a.row_ptr[middle] <= k ? low : high) = middle;
  }
  return low;
}

template <class T>
__global__ void sample(DeviceCsr a, const T* x, const T* y, double* sums, float* absolute_sums,
                       std::int64_t n) {
  const int lane = threadIdx.x % kTeam;
  const unsigned team = ((1u << kTeam) - 1) << (threadIdx.x % 32 / kTeam * kTeam);
  for (std::int64_t k = first_element() / kTeam; k < a.nnz; k += stride() / kTeam) {
    const T* const x_row = x + row_of(a, k) * n;
    const T* const y_row = y + a.columns[k] * n;
    double sum = 0, absolute = 0;
    for (std::int64_t j = lane; j < n; j += kTeam) {
      const double product = widen(x_row[j]) * widen(y_row[j]);
      sum += product;
      absolute += fabs(product);
    }
    for (int distance = kTeam / 2; distance > 0; distance /= 2) {
      sum += __shfl_xor_sync(team, sum, distance);
      absolute += __shfl_xor_sync(team, absolute, distance);
    }
    if (lane != 0) continue;
    sums[k] = sum;
    absolute_sums[k] = static_cast<float>(absolute);
  }
}

constexpr int kWarp = 32;

template <class F>
__device__ double over_warp(double x, F combine) {
  for (int away = kWarp / 2; away > 0; away /= 2) x = combine(x, __shfl_xor_sync(~0u, x, away));
  return x;
}
__device__ double sum_of_warp(double x) {
  return over_warp(x, [](double a, double b) { return a + b; });
}

/// A score, and the value to which its rounding errors are proportional.
struct Scored {
  double score, magnitude;
};

/// Softmax of a row by a warp; score(k) returns its scores.
struct RowSoftmax {
  double maximum = -HUGE_VAL, sum = 0, magnitude = 0;

  template <class F>
  __device__ RowSoftmax(std::int32_t begin, std::int32_t end, int lane, const F& score) {
    for (std::int32_t k = begin + lane; k < end; k += kWarp) maximum = fmax(maximum, score(k).score);
    maximum = over_warp(maximum, [](double a, double b) { return fmax(a, b); });
    for (std::int32_t k = begin + lane; k < end; k += kWarp) {
      const Scored s = score(k);
      const double e = exp(s.score - maximum);
      sum += e;
      magnitude += e * s.magnitude;
    }
    sum = sum_of_warp(sum);
    magnitude = sum_of_warp(magnitude) / sum;
  }
  __device__ double weight(const Scored& s) const { return exp(s.score - maximum) / sum; }
  __device__ double scale(const Scored& s) const { return 1 + s.magnitude + magnitude; }
};

template <class T>
__global__ void softmax(DeviceCsr a, const T* from, double* sums, float* scales) {
  const int lane = threadIdx.x % kWarp;
  for (std::int64_t row = first_element() / kWarp; row < a.rows; row += stride() / kWarp) {
    const auto score = [&](std::int32_t k) { return Scored{widen(from[k]), fabs(widen(from[k]))}; };
    const RowSoftmax all(a.row_ptr[row], a.row_ptr[row + 1], lane, score);
    for (std::int32_t k = a.row_ptr[row] + lane; k < a.row_ptr[row + 1]; k += kWarp) {
      sums[k] = all.weight(score(k));
      scales[k] = static_cast<float>(sums[k] * all.scale(score(k)));
    }
  }
}

/// Computes attention with dot product scores; X, Y and V have n columns.
template <class T>
__global__ void attend(DeviceCsr a, const T* x, const T* y, const T* v, const T* bias, double* sums,
                       float* scales, std::int64_t n) {
  const int lane = threadIdx.x % kWarp;
  for (std::int64_t row = first_element() / kWarp; row < a.rows; row += stride() / kWarp) {
    const std::int32_t begin = a.row_ptr[row], end = a.row_ptr[row + 1];
    const auto score = [&](std::int32_t k) {
      const T* const other = y + a.columns[k] * n;
      Scored s{widen(bias[k]), fabs(widen(bias[k]))};
      for (std::int64_t j = 0; j < n; ++j) {
        const double product = widen(x[row * n + j]) * widen(other[j]);
        s = {s.score + product, s.magnitude + fabs(product)};
      }
      return s;
    };
    const RowSoftmax all(begin, end, lane, score);
    for (std::int64_t j = lane; j < n; j += kWarp) {
      sums[row * n + j] = 0;
      scales[row * n + j] = 0;
    }
    for (std::int32_t first = begin; first < end; first += kWarp) {
      double weight = 0, scale = 0;
      if (first + lane < end) {
        const Scored s = score(first + lane);
        weight = all.weight(s);
        scale = all.scale(s);
      }
      for (int from = 0; from < kWarp && first + from < end; ++from) {
        const double w = __shfl_sync(~0u, weight, from), amplified = __shfl_sync(~0u, scale, from);
        for (std::int64_t j = lane; j < n; j += kWarp) {
          const double product = w * widen(v[a.columns[first + from] * n + j]);
          sums[row * n + j] += product;
          scales[row * n + j] += static_cast<float>(fabs(product) * amplified);
        }
      }
    }
  }
}

struct Sums {
  double difference, norm;              // sums of squares
  unsigned long long largest_relative;  // bits of a nonnegative double, which are ordered like its value
};

template <class T>
__global__ void compare(const T* x, const double* sums, const float* absolute_sums,
                        const std::int64_t* source, std::int64_t count, double smallest, Sums* result) {
  double difference = 0, norm = 0, largest = 0;
  for (std::int64_t i = first_element(); i < count; i += stride()) {
    const std::int64_t k = source != nullptr ? source[i] : i;
    const double value = widen(x[i]), d = value - sums[k];
    difference += d * d;
    norm += sums[k] * sums[k];
    const double relative = fabs(d) / (absolute_sums[k] + smallest);
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
  if (folded == 0x9e3779b9u) *sink = folded;  // so that the loads are not removed
}

/// Calls f with a null pointer of the element type.
template <class F>
void with_type(DType dtype, F f) {
  if (dtype == DType::f32) f(static_cast<float*>(nullptr));
  if (dtype == DType::f64) f(static_cast<double*>(nullptr));
  if (dtype == DType::f16) f(static_cast<__half*>(nullptr));
  if (dtype == DType::bf16) f(static_cast<__nv_bfloat16*>(nullptr));
}

int wait() {
  const cudaError_t launched = cudaGetLastError();
  return launched != cudaSuccess ? launched : cudaDeviceSynchronize();
}

/// One thread per element of C.
int reference_spmm(const DeviceCsr& a, const runtime::Operands& operands, std::int64_t n,
                   const ReferenceSums& to) {
  const runtime::SpmmOperands o = runtime::to_spmm(operands);
  with_type(a.dtype, [&]<class T>(T*) {
    multiply<<<blocks_for(a.rows * n), kThreads>>>(a, static_cast<const T*>(o.b), to.sums, to.absolute, n);
  });
  return wait();
}

/// Computes X Y^T at the entries of a with eight threads per entry.
int reference_sddmm(const DeviceCsr& a, const runtime::Operands& operands, std::int64_t n,
                    const ReferenceSums& to) {
  const runtime::SddmmOperands o = runtime::to_sddmm(operands);
  with_type(a.dtype, [&]<class T>(T*) {
    sample<<<blocks_for(a.nnz * kTeam), kThreads>>>(a, static_cast<const T*>(o.x), static_cast<const T*>(o.y),
                                                    to.sums, to.absolute, n);
  });
  return wait();
}

/// One warp per row.
int reference_softmax(const DeviceCsr& a, const runtime::Operands& operands, std::int64_t /*n*/,
                      const ReferenceSums& to) {
  with_type(a.dtype, [&]<class T>(T*) {
    softmax<<<blocks_for(a.rows * kWarp), kThreads>>>(
        a, static_cast<const T*>(operands.dense[runtime::kSoftmaxS].data), to.sums, to.absolute);
  });
  return wait();
}

int reference_attention(const DeviceCsr& a, const runtime::Operands& operands, std::int64_t n,
                        const ReferenceSums& to) {
  with_type(a.dtype, [&]<class T>(T*) {
    const auto operand = [&](int i) { return static_cast<const T*>(operands.dense[i].data); };
    attend<<<blocks_for(a.rows * kWarp), kThreads>>>(
        a, operand(runtime::kAttentionX), operand(runtime::kAttentionY), operand(runtime::kAttentionV),
        operand(runtime::kAttentionBias), to.sums, to.absolute, n);
  });
  return wait();
}

/// Computes act(Z W + bias) with one thread per element of C.
template <class T>
__global__ void update(DeviceCsr a, const double* z, const float* z_absolute, const T* w, const T* bias,
                       double* sums, float* absolute_sums, std::int64_t n) {
  for (std::int64_t i = first_element(); i < a.rows * n; i += stride()) {
    const std::int64_t row = i / n * n, column = i % n;
    double sum = widen(bias[column]), absolute = fabs(sum);
    for (std::int64_t k = 0; k < n; ++k) {
      const double weight = widen(w[k * n + column]);
      sum += z[row + k] * weight;
      absolute += z_absolute[row + k] * fabs(weight);
    }
    sums[i] = sum;
    absolute_sums[i] = static_cast<float>(absolute);
  }
}

/// Reference of spmm_update for the measured options only: m = n, alpha = 1, no activation.
int reference_update(const DeviceCsr& a, const runtime::Operands& operands, std::int64_t n,
                     const ReferenceSums& to) {
  const std::size_t count = static_cast<std::size_t>(std::max<std::int64_t>(a.rows * n, 1));
  double* z = nullptr;
  cudaError_t code = cudaMalloc(&z, count * (sizeof(double) + sizeof(float)));
  if (code != cudaSuccess) return code;
  auto* const absolute = reinterpret_cast<float*>(z + count);
  with_type(a.dtype, [&]<class T>(T*) {
    const auto operand = [&](int i) { return static_cast<const T*>(operands.dense[i].data); };
    multiply<<<blocks_for(a.rows * n), kThreads>>>(a, operand(runtime::kUpdateB), z, absolute, n);
    update<<<blocks_for(a.rows * n), kThreads>>>(a, z, absolute, operand(runtime::kUpdateW),
                                                 operand(runtime::kUpdateBias), to.sums, to.absolute, n);
  });
  code = static_cast<cudaError_t>(wait());
  cudaFree(z);
  return code;
}

constexpr std::int64_t kGradientRun = 256;  // rows summed per thread

/// Computes row blockIdx.y of dW; threads are columns and ranges of rows.
template <class T>
__global__ void gradient(DeviceCsr a, const T* z, const T* dc, double* sums, float* absolute_sums,
                         std::int64_t n) {
  const std::int64_t runs = (a.rows + kGradientRun - 1) / kGradientRun;
  for (std::int64_t i = blockIdx.y; i < n; i += gridDim.y)
    for (std::int64_t at = first_element(); at < runs * n; at += stride()) {
      const std::int64_t column = at % n, first = at / n * kGradientRun;
      double sum = 0, absolute = 0;
      for (std::int64_t row = first; row < min(first + kGradientRun, a.rows); ++row) {
        const double product = widen(z[row * n + i]) * widen(dc[row * n + column]);
        sum += product;
        absolute += fabs(product);
      }
      atomicAdd(sums + i * n + column, sum);
      atomicAdd(absolute_sums + i * n + column, static_cast<float>(absolute));
    }
}

int reference_gradient(const DeviceCsr& a, const runtime::Operands& operands, std::int64_t n,
                       const ReferenceSums& to) {
  const auto count = static_cast<std::size_t>(n * n);
  cudaError_t code = cudaMemset(to.sums, 0, count * sizeof(double));
  if (code == cudaSuccess) code = cudaMemset(to.absolute, 0, count * sizeof(float));
  if (code != cudaSuccess) return code;
  const std::int64_t runs = (a.rows + kGradientRun - 1) / kGradientRun;
  const dim3 blocks(blocks_for(runs * n), static_cast<unsigned>(std::min<std::int64_t>(n, 65535)));
  with_type(a.dtype, [&]<class T>(T*) {
    gradient<<<blocks, kThreads>>>(a, static_cast<const T*>(operands.dense[runtime::kGradientZ].data),
                                   static_cast<const T*>(operands.dense[runtime::kGradientDc].data), to.sums,
                                   to.absolute, n);
  });
  return wait();
}

/// References of operations; an operation without one can be measured, but not checked.
struct ReferenceRow {
  const runtime::Operation* op;
  Reference reference;
};
constexpr ReferenceRow kReferences[] = {
    {&runtime::kSpmm, reference_spmm},           {&runtime::kSddmm, reference_sddmm},
    {&runtime::kSoftmaxRows, reference_softmax}, {&runtime::kAttention, reference_attention},
    {&runtime::kSpmmUpdate, reference_update},   {&runtime::kUpdateGradient, reference_gradient}};

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

Reference reference_of(const runtime::Operation& op) {
  for (const ReferenceRow& row : kReferences)
    if (row.op == &op) return row.reference;
  return nullptr;
}

int measure_errors(const void* x, DType dtype, const ReferenceSums& reference, const std::int64_t* source,
                   std::int64_t count, Errors& errors) {
  Sums* device = nullptr;
  Sums host{};
  cudaError_t code = cudaMalloc(&device, sizeof(Sums));
  if (code == cudaSuccess) code = cudaMemset(device, 0, sizeof(Sums));
  if (code == cudaSuccess) {
    with_type(dtype, [&]<class T>(T*) {
      compare<<<1024, kThreads>>>(static_cast<const T*>(x), reference.sums, reference.absolute, source, count,
                                  smallest_normal(dtype), device);
    });
    code = cudaMemcpy(&host, device, sizeof(Sums), cudaMemcpyDeviceToHost);
  }
  cudaFree(device);
  std::memcpy(&errors.relative, &host.largest_relative, sizeof(double));
  errors.frobenius = host.difference == 0 ? 0 : std::sqrt(host.difference / host.norm);
  return code;
}

int read_repeatedly(const void* from, std::size_t bytes, int passes, int blocks, void* sink,
                    cudaStream_t stream) {
  read<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(
      static_cast<const uint4*>(from), static_cast<std::int64_t>(bytes / sizeof(uint4)), passes,
      static_cast<unsigned*>(sink));
  return cudaGetLastError();
}

}  // namespace sptile::tools::cuda
