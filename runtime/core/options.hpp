// What a plan is asked for: device, types, precision, and how to choose.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/core/operands.hpp"

namespace sptile::runtime {

enum class Device { cpu, cuda };
/// How products are formed; sums are always f32 or wider. fp64 is what f64 operands get, whatever is asked
/// for.
enum class Precision { fp32, tf32, fp16, bf16, fp64 };
inline constexpr std::string_view kPrecisionNames[] = {"fp32", "tf32", "fp16", "bf16",
                                                       "fp64"};  ///< in that order
constexpr std::string_view name_of(Precision precision) {
  return kPrecisionNames[static_cast<int>(precision)];
}
enum class NonFinite { fast, strict };
/// How one of several formats and kernels is chosen: by the cost model, or by running each.
/// Order of the numbers of a result with one for each entry: as the format of the plan stores its values, or
/// as they stand in the CSR matrix, row after row.
enum class EntryOrder { packed, csr };

enum class Choice { predicted, measured };

struct PlanOptions {
  std::int64_t n = 0;        ///< columns of the dense operands, >= 1
  DType dense = DType::f32;  ///< type of the dense operands
  /// Type of the result, which is added to in it, too: f32 where `dense` has 16 bits, or none: that of
  /// `dense`.
  DType result = DType::none;
  Device device = Device::cpu;
  std::string_view kernel =
      {};           ///< row of kernels() to force, for example "cpu.csr.avx2"; empty: best for this machine
  int threads = 0;  ///< 0: all that OpenMP gives
  bool trusted = false;      ///< skip the one-pass check of the arrays
  bool refreshable = false;  ///< keep an own copy of the values so that refresh_values works
  NonFinite nonfinite = NonFinite::fast;
  Variant variant = {};
  /// Least exact products that f32 operands may get; not set: the kernel's own (tf32 on tensor cores). A
  /// kernel that has no such products forms more exact ones: see precision_of.
  std::optional<Precision> precision = {};
  int device_ordinal = 0;                 ///< which CUDA device
  EntryOrder order = EntryOrder::packed;  ///< not read for operations without such a result
  Choice choice = Choice::predicted;      ///< read where there is something to choose, see plan/choice.hpp
  bool stored =
      true;  ///< take a stored plan of the matrix that is exactly the one to be made, if there is one
};

constexpr DenseTypes types_of(const PlanOptions& options) { return {options.dense, options.result}; }

/// Sizes of a run of n columns; 0: as many as planned.
constexpr RunSizes sizes_of(const PlanOptions& options, std::int64_t n = 0) {
  const Variant& variant = options.variant;
  return {n != 0 ? n : options.n, variant.m != 0 ? variant.m : options.n, variant.heads};
}

}  // namespace sptile::runtime
