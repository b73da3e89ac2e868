// C = alpha * A * B + beta * C with a planned A.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

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

struct SpmmOptions {
  std::int64_t n = 0;        ///< columns of B and C, >= 1
  DType dense = DType::f32;  ///< type of B and C
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
  int device_ordinal = 0;  ///< which CUDA device
};

class SpmmPlan;  // defined in runtime/spmm_plan.hpp; immutable after planning except refresh_values

/// What is multiplied: one format of a matrix, where its rows go, and (for refresh) where its values come
/// from. Borrowed arrays must outlive the plan; `owner` keeps them alive (a Bundle, for example) and may be
/// null.
struct SpmmMatrix {
  formats::FormatView format;
  std::span<const std::int32_t> row_order;  ///< new_to_old over the format's rows; empty: as they stand
  ArrayView value_source;                   ///< i64 positions; may be absent
  std::shared_ptr<const void> owner;
};

/// Chooses a kernel, checks the matrix once (unless trusted), splits the work by entries. May allocate and be
/// slow. Errc::bad_input when a check fails; Errc::unsupported for a format, type or device that no kernel
/// serves, naming what would work; Errc::usage for bad options. With Device::cuda the matrix is uploaded, and
/// `a` is not needed after planning; Errc::device when there is no such device, it is too old or has no room.
Result<std::shared_ptr<SpmmPlan>> plan_spmm(const SpmmMatrix& a, const SpmmOptions& options);

/// Dense operands: row-major, element type SpmmOptions::dense.
struct SpmmOperands {
  const void* b = nullptr;  ///< cols x n
  std::int64_t ldb = 0;     ///< elements between rows of B, >= n
  void* c = nullptr;        ///< rows x n, in the original row order
  std::int64_t ldc = 0;
  double alpha = 1;
  double beta = 0;  ///< 0: C is only written, its old contents (NaN too) do not matter
  /// Device scratch of workspace_bytes(plan) zeroed bytes, for a run beside others of the same plan on other
  /// streams; null: the plan's own.
  void* workspace = nullptr;
};

/// Runs the plan: allocates nothing; any number of threads may run one plan at once on different C.
/// Every row of C is written, empty rows too. Same bits for any number of threads.
/// Errc::usage for null pointers or leading dimensions below n; nothing else can fail on the CPU.
/// A CUDA plan reads B and writes C in device memory. It is enqueued on `stream` (a cudaStream_t of the
/// plan's device; null: the default one) and may be captured in a graph; Errc::device when launching fails.
/// Runs of one plan at the same time need a workspace each.
Status run(const SpmmPlan& plan, const SpmmOperands& operands, void* stream = nullptr) noexcept;

/// Runs warmup + repeat times with operands in host memory, whatever the device, and gives the seconds of
/// each of the last `repeat` runs; copies are not timed. Allocates on the device when the plan is for CUDA.
Result<std::vector<double>> timed_run(const SpmmPlan& plan, const SpmmOperands& host, int warmup, int repeat);

/// Device scratch of one run, in bytes; 0 on the CPU.
std::size_t workspace_bytes(const SpmmPlan& plan);

/// Replaces the values: `values` has one element per entry of the source CSR, of the format's value type; for
/// a CUDA plan they may be in host or device memory. Not concurrent with run. Errc::usage unless planned
/// refreshable with a value_source (or on format csr).
Status refresh_values(SpmmPlan& plan, ArrayView values);

/// Name of the kernel that the plan runs: "cpu.bittcf.avx512".
std::string_view kernel_name(const SpmmPlan& plan);

/// How the plan forms products.
Precision precision_of(const SpmmPlan& plan);

}  // namespace sptile::runtime
