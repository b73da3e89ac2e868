// Steps between the sums of a kernel and its results.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/number.cuh"

namespace sptile::runtime::cuda {

/// Returns the caller's row of a row of the format; `row_order` is null if rows are in the caller's order.
template <class Row>
__device__ __forceinline__ std::int32_t caller_row(const std::int32_t* row_order, Row row) {
  return row_order != nullptr ? __ldg(row_order + row) : static_cast<std::int32_t>(row);
}

/// Writes alpha * sum + beta * old to one element. The element is not read if beta is 0.
template <class Result, class Acc>
__device__ __forceinline__ void store_scaled(Result* to, Acc sum, Acc alpha, Acc beta) {
  Acc result = alpha * sum;
  if (beta != Acc(0)) result += beta * widen(*to);
  *to = narrow<Result>(result);
}

}  // namespace sptile::runtime::cuda
