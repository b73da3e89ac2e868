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

/// Device element types by dtype.
template <class T>
struct TypeOf;
template <>
struct TypeOf<float> {
  static constexpr DType kType = DType::f32;
};
template <>
struct TypeOf<double> {
  static constexpr DType kType = DType::f64;
};
template <>
struct TypeOf<__half> {
  static constexpr DType kType = DType::f16;
};
template <>
struct TypeOf<__nv_bfloat16> {
  static constexpr DType kType = DType::bf16;
};

/// Returns the planned columns of the weights.
inline std::int64_t planned_m(std::int64_t n, const Variant& variant) {
  return variant.m != 0 ? variant.m : n;
}

}  // namespace sptile::runtime::cuda
