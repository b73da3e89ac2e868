// Products of sums and weights on tensor cores: fragments and MMAs of each precision, elements of runtime
// types, and stores of results.
//
// A warp computes 16 rows of 32 columns at a time with four MMAs, whose columns are distributed so that a
// lane has 8 adjacent ones of rows g and g + 8 (g = lane / 4, t = lane % 4): column 2q + r of MMA j is column
// 8q + 2j + r.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "formats/core/dtype.hpp"
#include "runtime/cuda/collective/block.cuh"
#include "runtime/cuda/collective/vector.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/families/update/schedule.hpp"

namespace sptile::runtime::cuda {

/// Reads element i of an array; none: 1.
template <class Sum>
__device__ __forceinline__ Sum read_as(DType type, const void* from, std::int64_t i) {
  switch (type) {
    case DType::f32:
      return static_cast<Sum>(__ldg(static_cast<const float*>(from) + i));
    case DType::f64:
      return static_cast<Sum>(__ldg(static_cast<const double*>(from) + i));
    case DType::f16:
      return widen(load_number<Half>(from, i));
    case DType::bf16:
      return widen(load_number<BFloat16>(from, i));
    default:
      return Sum(1);
  }
}

/// f32 sums and weights: products of tf32, or of f32 accuracy from the two halves of each factor. 16-bit
/// numbers are exact in tf32.
template <bool kSplitFactors>
struct UpdateF32 {
  using Sum = float;
  static constexpr bool kSplit = kSplitFactors;
  static constexpr int kStep = 8;
  /// Operand of one MMA, k = t and t + 4.
  struct alignas(kSplit ? 16 : 8) Weights : Tf32Operand<kSplit, 2> {};
  using Factors = Tf32Operand<kSplit, 4>;

  static __device__ __forceinline__ Weights pack(const float (&w)[2]) {
    return {tf32_operand<kSplit, true>(w)};
  }
  /// Loads factors; `at` points to row g, k = t.
  template <bool kIeee = true>
  static __device__ __forceinline__ Factors factors(const float* at, int row_step, int k_step) {
    return factors_of<kIeee>({at[0], at[8 * row_step], at[4 * k_step], at[8 * row_step + 4 * k_step]});
  }
  /// Converts (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4).
  template <bool kIeee = true>
  static __device__ __forceinline__ Factors factors_of(const float (&from)[4]) {
    return tf32_operand<kSplit, kIeee>(from);
  }
  template <bool kIeee = true>
  static __device__ __forceinline__ void multiply(float (&acc)[4], const Factors& f, const Weights& w) {
    mma<false, kIeee>(acc, f, w);
  }
};

struct UpdateF64 {
  using Sum = double;
  static constexpr bool kSplit = false;
  static constexpr int kStep = 4;
  struct Weights {
    double w;
  };
  struct Factors {
    double row[2];
  };
  static __device__ __forceinline__ Weights pack(const double (&w)[1]) { return {w[0]}; }
  template <bool kIeee = true>
  static __device__ __forceinline__ Factors factors(const double* at, int row_step, int /*k_step*/) {
    return {{at[0], at[8 * row_step]}};
  }
  template <bool kIeee = true>
  static __device__ __forceinline__ void multiply(double (&acc)[4], const Factors& f, const Weights& w) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      double rows[2] = {acc[2 * h], acc[2 * h + 1]};
      mma_f64(rows, f.row[h], w.w);
      acc[2 * h] = rows[0];
      acc[2 * h + 1] = rows[1];
    }
  }
};

/// Sums of a warp: 16 rows, 32 columns.
template <class Math>
using UpdateSums = typename Math::Sum[4][4];

/// W, optionally transposed.
struct WeightSource {
  const void* data;                  ///< in the operands' type
  std::int64_t k_step, column_step;  ///< in elements
  std::int64_t n, m;
};

/// Order of k for factor s of a lane, t = lane % 4: factors are read one by one, or four adjacent ones for
/// two steps.
struct ByOne {
  static __device__ __forceinline__ int k(int step, int t, int s, int step_size) {
    return step * step_size + t + 4 * s;
  }
};
struct ByFour {
  static __device__ __forceinline__ int k(int step, int t, int s, int /*step_size*/) {
    return step / 2 * 16 + 4 * t + step % 2 * 2 + s;
  }
};

/// A lane's numbers of W for one step and a group of columns: its operands of the MMAs, not yet packed.
template <class Math>
using WeightNumbers = typename Math::Sum[4][Math::kStep / 4];

/// Loads the lane's numbers of a step, with zeros beyond the ends.
template <class Dense, class Math, class Order = ByOne>
__device__ __forceinline__ void load_weights(WeightNumbers<Math>& numbers, const WeightSource& w,
                                             std::int64_t first_k, int step, std::int64_t first_column) {
  const int lane = static_cast<int>(threadIdx.x) % 32, own_column = lane / 8 * 8 + lane / 4 % 2;
  const std::int64_t column = first_column + own_column;
#pragma unroll
  for (int s = 0; s < Math::kStep / 4; ++s) {
    const std::int64_t k = first_k + Order::k(step, lane % 4, s, Math::kStep);
    const std::int64_t at = k * w.k_step + column * w.column_step;
#pragma unroll
    for (int j = 0; j < 4; ++j)
      numbers[j][s] = k < w.n && column + 2 * j < w.m
                          ? widen(static_cast<const Dense*>(w.data)[at + 2 * j * w.column_step])
                          : typename Math::Sum(0);
  }
}

/// Stores weights in MMA order, [step][group of columns][MMA][lane], with zeros beyond the ends. Called by
/// all threads of the block: a warp copies four steps of a group at a time, so that a block waits for memory
/// once or twice.
template <class Dense, class Math, class Order = ByOne>
__device__ void stage_weights(typename Math::Weights* to, const WeightSource& w, std::int64_t first_k,
                              int steps, std::int64_t first_column, int groups) {
  constexpr int kMmas = 4, kTogether = 4;
  const int lane = static_cast<int>(threadIdx.x) % 32, warps = static_cast<int>(blockDim.x) / 32;
  const int parts = steps * groups;
  for (int first = static_cast<int>(threadIdx.x) / 32; first < parts; first += kTogether * warps) {
    WeightNumbers<Math> numbers[kTogether];
#pragma unroll
    for (int u = 0; u < kTogether; ++u) {
      const int part = first + u * warps, step = part / groups;
      if (part < parts)
        load_weights<Dense, Math, Order>(numbers[u], w, first_k, step,
                                         first_column + (part - step * groups) * kColumnGroup);
    }
#pragma unroll
    for (int u = 0; u < kTogether; ++u)
#pragma unroll
      for (int j = 0; j < kMmas; ++j)
        if (const int part = first + u * warps; part < parts)
          to[(part * kMmas + j) * 32 + lane] = Math::pack(numbers[u][j]);
  }
}

/// Adds 16 rows of sums times the weights of one group of columns, whose steps are `step_size` apart. Without
/// kIeee, non-finite sums may be wrong.
template <class Math, bool kIeee = true>
__device__ __forceinline__ void multiply_rows(UpdateSums<Math>& acc, const typename Math::Sum* rows,
                                              int stride, const typename Math::Weights* weights,
                                              int step_size, int steps) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const typename Math::Sum* const at = rows + lane / 4 * stride + lane % 4;
#pragma unroll 2
  for (int step = 0; step < steps; ++step) {
    const typename Math::Factors f = Math::template factors<kIeee>(at + step * Math::kStep, stride, 1);
#pragma unroll
    for (int j = 0; j < 4; ++j)
      Math::template multiply<kIeee>(acc[j], f, weights[step * step_size + j * 32 + lane]);
  }
}

/// Returns whether a sum of an existing row is not finite, in any lane. `rows` are the output rows of g and g
/// + 8; -1: none.
template <class Math>
__device__ __forceinline__ bool has_nonfinite(const UpdateSums<Math>& sums, const std::int32_t (&rows)[2]) {
  typename Math::Sum doubt[2] = {};  // NaN once a sum is not finite
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) doubt[i / 2] += sums[j][i] * typename Math::Sum(0);
  return __any_sync(kFullMask, (rows[0] >= 0 && doubt[0] != 0) || (rows[1] >= 0 && doubt[1] != 0));
}

/// Computes the product of 16 rows of sums and the weights of one group of columns. The IEEE guard made
/// updates up to 1.12 times as long (H200, 128 columns), so it is used only to recompute non-finite sums.
template <class Math>
__device__ __forceinline__ void form_rows(UpdateSums<Math>& acc, const std::int32_t (&to)[2],
                                          const typename Math::Sum* rows, int stride,
                                          const typename Math::Weights* weights, int step_size, int steps) {
  multiply_rows<Math, !Math::kSplit>(acc, rows, stride, weights, step_size, steps);
  if constexpr (Math::kSplit) {
    if (!has_nonfinite<Math>(acc, to)) return;
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) acc[j][i] = 0;
    multiply_rows<Math, true>(acc, rows, stride, weights, step_size, steps);
  }
}

/// Conversion of sums to C, and its store.
struct UpdateResult {
  void* c;
  std::int64_t ldc, m;
  DType type;
  const void* bias;  ///< null: none
  DType bias_type;
  double alpha;
  bool relu;
  bool whole;  ///< rows can be written in units of 16 bytes
};

/// Writes 8 adjacent numbers, of which `left` exist.
template <class R, class Sum>
__device__ __forceinline__ void write_eight(R* to, const Sum (&x)[8], std::int64_t left, bool whole) {
  constexpr int kPiece = 16 / static_cast<int>(sizeof(R));
#pragma unroll
  for (int first = 0; first < 8; first += kPiece) {
    if (whole) {
      Vec<R, kPiece> vec;
#pragma unroll
      for (int e = 0; e < kPiece; ++e) vec.e[e] = narrow<R>(x[first + e]);
      if (first < left) store_vector<Cache::streaming>(to + first, vec);
    } else {
#pragma unroll
      for (int e = 0; e < kPiece; ++e)
        if (first + e < left) to[first + e] = narrow<R>(x[first + e]);
    }
  }
}

/// Writes the lane's part of a row: h = 0 for row g, 1 for row g + 8.
template <class Math>
__device__ __forceinline__ void write_row(const UpdateResult& result, const UpdateSums<Math>& acc, int h,
                                          std::int64_t row, std::int64_t first_column) {
  using Sum = typename Math::Sum;
  const std::int64_t column = first_column + 8 * (threadIdx.x % 4), left = result.m - column;
  const std::int64_t at = row * result.ldc + column;
  Sum x[8];
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    x[e] = static_cast<Sum>(result.alpha) * acc[e / 2][2 * h + e % 2];
    if (result.bias != nullptr && e < left) x[e] += read_as<Sum>(result.bias_type, result.bias, column + e);
    if (result.relu && x[e] < Sum(0)) x[e] = Sum(0);  // NaN is kept
  }
  if constexpr (std::is_same_v<Sum, double>) {
    write_eight(static_cast<double*>(result.c) + at, x, left, result.whole);
  } else {
    if (result.type == DType::f32) write_eight(static_cast<float*>(result.c) + at, x, left, result.whole);
    if (result.type == DType::f16) write_eight(static_cast<Half*>(result.c) + at, x, left, result.whole);
    if (result.type == DType::bf16) write_eight(static_cast<BFloat16*>(result.c) + at, x, left, result.whole);
  }
}

}  // namespace sptile::runtime::cuda
