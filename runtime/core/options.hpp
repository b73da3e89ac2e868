// Options of a plan: device, types, precision and choice of the kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/core/operands.hpp"

namespace sptile::runtime {

enum class Device { cpu, cuda };
/// Types in which products are computed; sums are f32 or wider. f64 operands always use fp64.
enum class Precision { fp32, tf32, fp16, bf16, fp64 };
inline constexpr std::string_view kPrecisionNames[] = {"fp32", "tf32", "fp16", "bf16",
                                                       "fp64"};  ///< in the order of Precision
constexpr std::string_view name_of(Precision precision) {
  return kPrecisionNames[static_cast<int>(precision)];
}
enum class NonFinite { fast, strict };
/// Order of a result with one number per entry: packed as the format of the plan stores its values, or CSR
/// order (by row, then by column).
enum class EntryOrder { packed, csr };
/// Selection among several formats and kernels: by the cost model, or by running each candidate.
enum class Choice { predicted, measured };

struct PlanOptions {
  std::int64_t n = 0;        ///< columns of the dense operands, >= 1
  DType dense = DType::f32;  ///< type of the dense operands
  /// Type of the result, in which beta * C is added, too: f32 if `dense` has 16 bits, or DType::none for the
  /// type of `dense`.
  DType result = DType::none;
  Device device = Device::cpu;
  std::string_view kernel =
      {};           ///< name of a kernel to force, for example "cpu.csr.avx2"; empty: best for this machine
  int threads = 0;  ///< maximum number of threads of a run; 0: default_threads()
  bool trusted = false;      ///< skip the one-pass check of the arrays
  bool refreshable = false;  ///< copy the values so that refresh_values works
  NonFinite nonfinite = NonFinite::fast;
  Variant variant = {};
  /// Minimum precision of the products of f32 operands; unset: the kernel's default (tf32 on tensor cores). A
  /// kernel without this precision uses the next higher one, see precision_of.
  std::optional<Precision> precision = {};
  int device_ordinal = 0;                 ///< CUDA device number
  EntryOrder order = EntryOrder::packed;  ///< ignored for operations without a result per entry
  Choice choice = Choice::predicted;      ///< ignored if there is one candidate, see plan/choice.hpp
  double budget = 1;                      ///< seconds for measuring candidates; one is always measured
  bool stored = true;                     ///< use a stored plan of the matrix if its key matches
  /// Accept kernels with Kernel::undefined_result. Set by benchmarks that do not check results.
  bool undefined_result = false;
};

constexpr DenseTypes types_of(const PlanOptions& options) { return {options.dense, options.result}; }

/// Returns the sizes of a run of n columns; 0: the planned n.
constexpr RunSizes sizes_of(const PlanOptions& options, std::int64_t n = 0) {
  const Variant& variant = options.variant;
  return {n != 0 ? n : options.n, variant.m != 0 ? variant.m : options.n, variant.heads};
}

}  // namespace sptile::runtime
