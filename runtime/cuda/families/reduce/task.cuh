// Arguments of the kernels that reduce rows of csr, and accesses to the columns that a lane holds.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/direct_row.cuh"
#include "runtime/cuda/collective/number.cuh"
#include "runtime/cuda/collective/vector.cuh"
#include "runtime/cuda/device/ptx.cuh"

namespace sptile::runtime::cuda {

template <class DenseT>
struct ReduceTask {
  using Dense = DenseT;
  using Acc = typename Accumulator<Dense>::Type;
  const std::int64_t* row_ptr;
  const std::int32_t* columns;
  const Dense* values;       ///< null: all values are 1
  const std::int32_t* rows;  ///< class by class; null: 0, 1, ...
  const std::int32_t* row_order;
  const CsrPiece* pieces;
  const CsrSplit* splits;
  unsigned* arrived;    ///< one counter per split and slice
  std::byte* partials;  ///< states: [piece][slice][lane][element]
  const Dense* from;    ///< B of maxima, G of gradients
  const Dense* second;  ///< B of the gradient of values
  std::int32_t* arg;    ///< written by maxima, and may be null
  Dense* to;
  std::int64_t from_ld, second_ld, arg_ld, to_ld, n;
  Acc alpha, sign;
  int piece_count, class_count, slices;
  bool aligned;  ///< all rows can be accessed in vectors
  DirectClass classes[kDirectClasses];
};

/// Elements that a lane holds, in 16 bytes.
template <class Dense>
inline constexpr int kReduceVector = 16 / static_cast<int>(sizeof(Dense));

/// Loads the first `left` of N adjacent elements; the others keep their values.
template <class T, int N>
__device__ __forceinline__ void load_columns(Vec<T, N>& to, const T* from, int left, bool aligned) {
  if (aligned) {
    if (left > 0) to = load_vector<Vec<T, N>>(from);
    return;
  }
#pragma unroll
  for (int e = 0; e < N; ++e)
    if (e < left) to.e[e] = __ldg(from + e);
}

/// Stores the first `left` of N adjacent elements, which are not read again soon.
template <class T, int N>
__device__ __forceinline__ void store_columns(T* to, const Vec<T, N>& from, int left, bool aligned) {
  if (aligned) {
    if (left > 0) store_vector<Cache::streaming>(to, from);
    return;
  }
#pragma unroll
  for (int e = 0; e < N; ++e)
    if (e < left) to[e] = from.e[e];
}

}  // namespace sptile::runtime::cuda
