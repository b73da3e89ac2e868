// What a product is planned with: options, the matrix, and the plan. SpMM is in spmm.hpp, SDDMM in sddmm.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "formats/array_view.hpp"
#include "formats/error.hpp"
#include "formats/layout/format_layout.hpp"

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
enum class Choice { predicted, measured };

struct PlanOptions {
  std::int64_t n = 0;        ///< columns of the dense operands, >= 1
  DType dense = DType::f32;  ///< type of the dense operands
  Device device = Device::cpu;
  std::string_view kernel =
      {};           ///< row of kernels() to force, for example "cpu.csr.avx2"; empty: best for this machine
  int threads = 0;  ///< 0: all that OpenMP gives
  bool trusted = false;      ///< skip the one-pass check of the arrays
  bool refreshable = false;  ///< keep an own copy of the values so that refresh_values works
  NonFinite nonfinite = NonFinite::fast;
  /// Least exact products that f32 operands may get; not set: the kernel's own (tf32 on tensor cores). A
  /// kernel that has no such products forms more exact ones: see precision_of.
  std::optional<Precision> precision = {};
  int device_ordinal = 0;             ///< which CUDA device
  Choice choice = Choice::predicted;  ///< read where there is something to choose, see choice/choice.hpp
};

class ProductPlan;  // defined in runtime/product_plan.hpp; immutable after planning except refresh_values

/// What is multiplied: one format of a matrix, where its rows go, and (for refresh) where its values come
/// from. Borrowed arrays must outlive the plan; `owner` keeps them alive (a Bundle, for example) and may be
/// null.
struct PlanMatrix {
  formats::FormatView format;
  std::span<const std::int32_t> row_order;  ///< new_to_old over the format's rows; empty: as they stand
  ArrayView value_source;                   ///< i64 positions; may be absent
  std::shared_ptr<const void> owner;
};

/// Device scratch of one run, in bytes; 0 on the CPU.
std::size_t workspace_bytes(const ProductPlan& plan);

/// Replaces the values: `values` has one element per entry of the source CSR, of the format's value type; for
/// a CUDA plan they may be in host or device memory. Not concurrent with run. Errc::usage unless planned
/// refreshable with a value_source (or on format csr).
Status refresh_values(ProductPlan& plan, ArrayView values);

/// Replaces the values by those that an SDDMM plan of the same format wrote: packed, in the order in which
/// the format stores them, of its value type. For a CUDA plan `values` are device memory; the copy is
/// enqueued on `stream`. Errc::usage unless planned refreshable.
Status refresh_packed(ProductPlan& plan, ArrayView values, void* stream = nullptr);

/// Name of the kernel that the plan runs: "cpu.bittcf.avx512".
std::string_view kernel_name(const ProductPlan& plan);

/// How the plan forms products.
Precision precision_of(const ProductPlan& plan);

}  // namespace sptile::runtime
