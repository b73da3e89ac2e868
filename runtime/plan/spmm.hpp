// C = alpha * A * B + beta * C with a planned A.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "formats/error.hpp"
#include "runtime/plan/plan.hpp"

namespace sptile::runtime {

/// Chooses a kernel, checks the matrix once (unless trusted), splits the work by entries. May allocate and be
/// slow. Errc::bad_input when a check fails; Errc::unsupported for a format, type or device that no kernel
/// serves, naming what would work; Errc::usage for bad options. With Device::cuda the matrix is uploaded, and
/// `a` is not needed after planning; Errc::device when there is no such device, it is too old or has no room.
Result<std::shared_ptr<ProductPlan>> plan_spmm(const PlanMatrix& a, const PlanOptions& options);

/// Dense operands: row-major, element type PlanOptions::dense.
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
  std::size_t workspace_size = SIZE_MAX;  ///< its bytes; the default: enough, the caller knows
};

/// Runs the plan: allocates nothing; any number of threads may run one plan at once on different C.
/// Every row of C is written, empty rows too. Same bits for any number of threads.
/// Errc::usage for null pointers, leading dimensions below n or too small a workspace; nothing else can fail
/// on the CPU.
/// A CUDA plan reads B and writes C in device memory. It is enqueued on `stream` (a cudaStream_t of the
/// plan's device; null: the default one) and may be captured in a graph; Errc::device when launching fails.
/// Runs of one plan at the same time need a workspace each.
Status run(const ProductPlan& plan, const SpmmOperands& operands, void* stream = nullptr) noexcept;

/// Runs warmup + repeat times with operands in host memory, whatever the device, and gives the seconds of
/// each of the last `repeat` runs; copies are not timed. Allocates on the device when the plan is for CUDA.
Result<std::vector<double>> timed_run(const ProductPlan& plan, const SpmmOperands& host, int warmup,
                                      int repeat);

}  // namespace sptile::runtime
