// Operands of the update kernels from a launch.
#pragma once

#include "runtime/cuda/device/whole_pieces.hpp"
#include "runtime/cuda/families/update/math.cuh"
#include "runtime/operation/spmm_update.hpp"

namespace sptile::runtime::cuda {

inline WeightSource weights_of(const Launch& launch) {
  const Operand& w = launch.operands.dense[kUpdateW];
  const bool turned = launch.variant.transposed_weights;
  return {w.data, turned ? 1 : w.ld, turned ? w.ld : 1, launch.n, launch.sizes.m};
}

inline UpdateResult result_of(const Launch& launch, const DenseTypes& types) {
  const Operand& c = launch.operands.dense[kUpdateC];
  return {c.data,
          c.ld,
          launch.sizes.m,
          types.result,
          launch.operands.dense[kUpdateBias].data,
          types.operands,
          launch.operands.alpha,
          launch.variant.activation == Activation::relu,
          whole_pieces(c, launch.sizes.m, static_cast<std::int64_t>(size_of(types.result)))};
}

/// Policies depend on the arithmetic: 16-bit operands are multiplied as tf32.
template <class Math>
inline constexpr Precision kPrecisionOf = std::is_same_v<Math, UpdateF64>         ? Precision::fp64
                                          : std::is_same_v<Math, UpdateF32<true>> ? Precision::fp32
                                                                                  : Precision::tf32;

/// Returns the planned columns of the weights.
inline std::int64_t planned_m(std::int64_t n, const Variant& variant) {
  return variant.m != 0 ? variant.m : n;
}

}  // namespace sptile::runtime::cuda
