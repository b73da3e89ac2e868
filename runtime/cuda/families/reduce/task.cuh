// Arguments of the kernels that reduce rows of csr, and accesses to the columns that a lane holds.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/direct_row.cuh"
#include "runtime/cuda/collective/lane_columns.cuh"
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
  int piece_count, class_count, slices, lanes;
  DirectClass classes[kDirectClasses];
};

/// Elements that a lane holds, in 16 bytes.
template <class Dense>
inline constexpr int kReduceVector = 16 / static_cast<int>(sizeof(Dense));

/// Columns of a lane. If rows are aligned, lanes past the end load the last columns and store none.
struct ReduceColumns {
  std::int64_t first;
  int left;
};

template <class Dense, bool kAligned>
__device__ __forceinline__ ReduceColumns columns_of_lane(std::int64_t lane, std::int64_t n) {
  constexpr std::int64_t kVector = kReduceVector<Dense>;
  const std::int64_t first = lane * kVector, left = max(min(n - first, kVector), std::int64_t{0});
  return {kAligned ? min(first, n - kVector) : first, static_cast<int>(left)};
}

/// Returns the lane's part of row `row` of an operand; `row_0` points to its first column.
template <bool kAligned, class T>
__device__ __forceinline__ const T* part_of_row(const T* row_0, std::int32_t row, std::int64_t ld) {
  if constexpr (kAligned)
    return row_at(row_0, row, static_cast<std::uint32_t>(ld) * static_cast<std::uint32_t>(sizeof(T)));
  else
    return row_0 + row * ld;
}

/// Loads N adjacent elements, or the first `left` of them if rows are not aligned.
template <bool kAligned, class T, int N>
__device__ __forceinline__ void load_columns(Vec<T, N>& to, const T* from, int left) {
  if constexpr (kAligned) {
    to = load_vector<Vec<T, N>>(from);
  } else {
#pragma unroll
    for (int e = 0; e < N; ++e)
      if (e < left) to.e[e] = __ldg(from + e);
  }
}

/// The elements of a row that a lane holds, as words: the compiler takes instructions for each half of a word
/// that is loaded under a condition.
template <class Dense>
class ReduceWords {
 public:
  /// Loads the lane's part of a row if `there`.
  template <bool kAligned>
  __device__ __forceinline__ void load(bool there, const Dense* row_0, std::int32_t row, std::int64_t ld,
                                       int left) {
    if (!there) return;
    const Dense* const from = part_of_row<kAligned>(row_0, row, ld);
    if constexpr (kAligned) {
      words_ = __ldg(reinterpret_cast<const uint4*>(from));
    } else {
      Elements elements = {};
      load_columns<false>(elements, from, left);
      __builtin_memcpy(&words_, &elements, sizeof words_);
    }
  }

  __device__ __forceinline__ Dense operator[](int e) const {
    Elements elements;
    __builtin_memcpy(&elements, &words_, sizeof words_);
    return elements.e[e];
  }

 private:
  using Elements = Vec<Dense, kReduceVector<Dense>>;
  uint4 words_ = {};
};

/// Stores the first `left` of N adjacent elements, which are not read again soon.
template <bool kAligned, class T, int N>
__device__ __forceinline__ void store_columns(T* to, const Vec<T, N>& from, int left) {
  if constexpr (kAligned) {
    if (left > 0) store_vector<Cache::streaming>(to, from);
  } else {
#pragma unroll
    for (int e = 0; e < N; ++e)
      if (e < left) to[e] = from.e[e];
  }
}

}  // namespace sptile::runtime::cuda
