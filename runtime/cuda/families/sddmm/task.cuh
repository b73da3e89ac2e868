// Parameters of the SDDMM kernels, and the store of a result.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "formats/core/dtype.hpp"
#include "runtime/cuda/collective/epilogue.cuh"
#include "runtime/cuda/collective/tile_masks.cuh"
#include "runtime/cuda/collective/vector.cuh"
#include "runtime/cuda/families/sddmm/schedule.hpp"

namespace sptile::runtime::cuda {

/// X and Y. Rows of X are in original order.
struct SddmmDense {
  const std::byte* x;
  const std::byte* y;
  std::uint64_t x_stride, y_stride;  ///< bytes between rows
  std::int64_t x_batch, y_batch;     ///< bytes between heads
  std::int64_t n;                    ///< number of features
  const std::int32_t* row_order;     ///< new_to_old of the format's rows; null: original order

  /// Returns the row of X of a row of the format.
  [[nodiscard]] __device__ __forceinline__ std::int32_t row(std::int32_t at) const {
    return caller_row(row_order, at);
  }
};

/// Results of one part of a format: out[i] = alpha * dot * values[i] + beta * out[i].
struct SddmmResults {
  void* out;
  const void* values;  ///< values of the part; null: not scaled
  DType value_type;
  double alpha, beta;
  std::int64_t out_batch, values_batch;  ///< bytes between heads
};

/// Nonzeros in rows.
struct EntryPart {
  const std::int64_t* row_offset;  ///< rows + 1
  const std::int32_t* row_id;      ///< ids of the format's rows; null: all of them
  const std::int32_t* columns;
  const std::int32_t* first_row;  ///< per run: index of the row of its first entry
  std::int64_t entries;
  std::int32_t rows;
  std::int32_t rounds;  ///< rounds per run, with 32 entries each
  std::int64_t runs;
  SddmmResults results;
};

/// Nonzeros in tiles.
struct TilePart {
  TileArrays arrays;
  const SddmmItem* items;
  std::int32_t item_count;
  std::int32_t rows;  ///< rows of the matrix
  SddmmResults results;
  const std::uint32_t* tile_value;  ///< me_tcf: first value of each tile, and the end
  const std::uint8_t* local_ids;    ///< me_tcf: position of each value in its tile
};

/// Kernel parameters: device pointers and numbers.
struct SddmmTask {
  SddmmDense dense;
  TilePart tiles;
  EntryPart entries;
  std::int32_t tile_blocks;  ///< the first blocks of each head; the others have nonzeros in rows
};

/// Returns the operands of one head.
__device__ __forceinline__ SddmmDense of_head(SddmmDense dense, int head) {
  dense.x += head * dense.x_batch;
  dense.y += head * dense.y_batch;
  return dense;
}

__device__ __forceinline__ SddmmResults of_head(SddmmResults results, int head) {
  results.out = static_cast<std::byte*>(results.out) + head * results.out_batch;
  if (results.values != nullptr)
    results.values = static_cast<const std::byte*>(results.values) + head * results.values_batch;
  return results;
}

/// Returns the part of one head.
template <class Part>
__device__ __forceinline__ Part of_head(Part part, int head) {
  part.results = of_head(part.results, head);
  return part;
}

/// Loads a value of any type, widened; 1 for a pattern.
template <class Acc>
__device__ __forceinline__ Acc read_value(const void* values, DType type, std::int64_t i) {
  switch (type) {
    case DType::f16:
      return value_at<Half, Acc>(values, i);
    case DType::bf16:
      return value_at<BFloat16, Acc>(values, i);
    case DType::f32:
      return value_at<float, Acc>(values, i);
    case DType::f64:
      return static_cast<Acc>(value_at<double, double>(values, i));
    case DType::none:
      return Acc{1};
    default:  // not a value type: check_array_types rejects it
      return Acc(NAN);
  }
}

/// Returns the factor of the result of nonzero i.
template <class Acc>
__device__ __forceinline__ Acc read_factor(const SddmmResults& results, std::int64_t i) {
  return results.values != nullptr ? read_value<Acc>(results.values, results.value_type, i) : Acc{1};
}

/// Stores the result of nonzero i, whose factor has been read. Without kAddsToOld, beta is 0.
template <class Result, bool kAddsToOld = true, class Acc>
__device__ __forceinline__ void write_result(const SddmmResults& results, std::int64_t i, Acc dot,
                                             Acc factor) {
  Acc result = static_cast<Acc>(results.alpha) * dot * factor;
  Result* const to = static_cast<Result*>(results.out) + i;
  if (kAddsToOld && results.beta != 0) result += static_cast<Acc>(results.beta) * widen(*to);
  *to = narrow<Result>(result);
}

/// Stores the result of nonzero i.
template <class Result, bool kAddsToOld = true, class Acc>
__device__ __forceinline__ void write_result(const SddmmResults& results, std::int64_t i, Acc dot) {
  write_result<Result, kAddsToOld>(results, i, dot, read_factor<Acc>(results, i));
}

}  // namespace sptile::runtime::cuda
