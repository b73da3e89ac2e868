// The table of the instances of an SpMM kernel: every pair of types and precision. Only files that
// instantiate kernels include it.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <type_traits>

#include "runtime/cuda/collective/number.cuh"
#include "runtime/cuda/instance_parts.hpp"

namespace sptile::runtime::cuda {

/// Family of a kernel: templates F32<V, split>, F16<V, D>, F16ToF32<V, D> (results in f32) and F64<V> of
/// instances for values of type V.
template <const std::string_view& kKernel>
struct FamilyOf;

template <const std::string_view& kKernel, int kPart>
struct InstanceTable {
  using Family = typename FamilyOf<kKernel>::Type;

  template <class Instance, class V, class D>
  static constexpr DeviceKernel row(Precision precision, DType result = DType::none) {
    return {.kernel = kKernel,
            .values = kDTypeOf<V>,
            .dense = kDTypeOf<D>,
            .precision = precision,
            .capability = 80,
            .ieee = false,
            .schedule = Instance::schedule,
            .launch = Instance::launch,
            .least_n = Instance::least_n,
            .result = result,
            .store = &Instance::kStore,
            .policy = Instance::policy};
  }

  template <class V, bool kSplit>
  static constexpr DeviceKernel f32() {
    return row<typename Family::template F32<V, kSplit>, V, float>(kSplit ? Precision::fp32
                                                                          : Precision::tf32);
  }
  template <class V, class D>
  static constexpr DeviceKernel f16(Precision precision) {
    return row<typename Family::template F16<V, D>, V, D>(precision);
  }
  template <class V, class D>
  static constexpr DeviceKernel f16_to_f32(Precision precision) {
    return row<typename Family::template F16ToF32<V, D>, V, D>(precision, DType::f32);
  }
  template <class V>
  static constexpr DeviceKernel f64() {
    return row<typename Family::template F64<V>, V, double>(Precision::fp64);
  }

  /// Returns the rows of the part.
  static constexpr auto rows() {
    constexpr Precision kHalf = Precision::fp16, kBf16 = Precision::bf16;
    if constexpr (kPart == 0)
      return std::array{f32<float, false>(), f32<Half, false>(), f32<BFloat16, false>(), f32<Ones, false>(),
                        f32<float, true>(),  f32<Half, true>(),  f32<BFloat16, true>(),  f32<Ones, true>()};
    else
      return std::array{f16<Half, Half>(kHalf),
                        f16<Ones, Half>(kHalf),
                        f16_to_f32<Half, Half>(kHalf),
                        f16_to_f32<Ones, Half>(kHalf),
                        f16<BFloat16, BFloat16>(kBf16),
                        f16<Ones, BFloat16>(kBf16),
                        f16_to_f32<BFloat16, BFloat16>(kBf16),
                        f16_to_f32<Ones, BFloat16>(kBf16),
                        f64<double>(),
                        f64<Ones>()};
  }
};

template <const std::string_view& kKernel, int kPart>
std::span<const DeviceKernel> instances_of_part() {
  static constexpr auto kRows = InstanceTable<kKernel, kPart>::rows();
  return kRows;
}

}  // namespace sptile::runtime::cuda

// Instantiates a kernel of a family. The build compiles the file once per part and defines SPTILE_PART;
// without it, the file has all parts.
#define SPTILE_INSTANTIATE_PART(kernel, part) \
  template std::span<const DeviceKernel> instances_of_part<kernel, part>();
#ifdef SPTILE_PART
#define SPTILE_INSTANTIATE_PARTS(kernel) SPTILE_INSTANTIATE_PART(kernel, SPTILE_PART)
#else
#define SPTILE_INSTANTIATE_PARTS(kernel) SPTILE_INSTANTIATE_PART(kernel, 0) SPTILE_INSTANTIATE_PART(kernel, 1)
#endif
#define SPTILE_INSTANTIATE(kernel, ...) \
  template <>                           \
  struct FamilyOf<kernel> {             \
    using Type = __VA_ARGS__;           \
  };                                    \
  SPTILE_INSTANTIATE_PARTS(kernel)
