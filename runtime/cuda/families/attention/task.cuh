// Kernel parameters and building blocks of the attention kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/core/attention_operands.hpp"
#include "runtime/core/score.hpp"
#include "runtime/cuda/collective/csr_schedule.hpp"
#include "runtime/cuda/collective/lanes.hpp"
#include "runtime/cuda/collective/softmax_state.cuh"
#include "runtime/cuda/collective/vector.cuh"
#include "runtime/cuda/collective/warp.cuh"
#include "runtime/cuda/families/attention/policy.hpp"

namespace sptile::runtime::cuda {

/// An operand, with strides in bytes between rows (of a list, between numbers) and between heads.
struct DenseRows {
  std::byte* data;
  std::int64_t stride, batch;
};

/// Kernel parameter: device pointers and numbers.
struct AttentionTask {
  const std::int64_t* row_ptr;
  const std::int32_t* columns;
  const std::int32_t* row_order;  ///< new_to_old of the format's rows; null: original order
  const CsrRun* runs;
  const CsrPiece* pieces;
  const CsrSplit* splits;
  unsigned* arrived;    ///< one counter per split, head and slice
  std::byte* partials;  ///< [piece][head][slice], with Group::kPartial numbers per lane
  std::int32_t piece_count, item_count, heads, slices;
  bool beside;  ///< heads are interleaved in rows, so those of a row are adjacent
  bool tied;    ///< rows of Y and V are the same
  bool wide;    ///< results are f32, operands have 16 bits
  Score score;
  std::int64_t n, m;
  double alpha, slope;
  DenseRows dense[kMaxOperands];
};

/// A group of lanes that shares a row, 16 bytes per lane.
template <class MathT, int kLanesT, bool kVectorT, int kUnrollT>
struct AttentionShape {
  using Math = MathT;
  using Dense = typename Math::Dense;
  using Acc = typename Math::Acc;
  using Chunk = typename Math::Chunk;
  static constexpr int kLanes = kLanesT;
  static constexpr bool kVector = kVectorT;  ///< rows can be loaded in units of 16 bytes
  static constexpr int kUnroll = kUnrollT;   ///< entries whose rows are in flight together
  static constexpr int kElements = Math::kElements;
  /// Separate code for batches of a single row, if its size is justified.
  static constexpr bool kOneRowToo = kVector && sizeof(Acc) == 4;
  static constexpr int kColumns = kLanes * kElements;  ///< columns of a slice
};

template <class Math>
__device__ __forceinline__ typename Math::Acc dot(const typename Math::Chunk& x,
                                                  const typename Math::Chunk& y) {
  typename Math::Acc sum{};
#pragma unroll
  for (int e = 0; e < Math::kElements; ++e) sum += chunk_at<Math>(x, e) * chunk_at<Math>(y, e);
  return sum;
}

/// Returns element i of a list or row of the operands' type, or of statistics.
template <class T>
__device__ __forceinline__ auto number_at(const std::byte* from, std::int64_t i) {
  return widen(load_number<T>(from, i));
}

/// Writes a number to a list of results.
template <class Dense, class Acc>
__device__ __forceinline__ void write_number(std::byte* to, std::int64_t i, bool wide, Acc x) {
  if (wide)
    reinterpret_cast<Acc*>(to)[i] = x;
  else
    reinterpret_cast<Dense*>(to)[i] = narrow<Dense>(x);
}

}  // namespace sptile::runtime::cuda
