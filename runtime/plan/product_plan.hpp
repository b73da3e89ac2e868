// Result of planning, which run reads.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/core/kernel.hpp"
#include "runtime/cpu/cpu_kernels.hpp"
#include "runtime/cpu/long_rows.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/plan/held_format.hpp"
#include "runtime/plan/plan.hpp"

namespace sptile::runtime {

/// Immutable after planning, except for the values of its format; run needs no other memory.
class ProductPlan {
 public:
  const Operation* op = nullptr;
  std::shared_ptr<HeldFormat> held;  ///< shared with other plans
  PlanMatrix matrix;                 ///< the matrix of `held`
  PlanOptions options;
  DType values = DType::none;  ///< element type of A; none for a pattern
  const Kernel* kernel = nullptr;
  Precision precision = Precision::fp32;
  std::shared_ptr<cuda::Plan> on_device;  ///< set for CUDA plans, which use it instead of the members below
  ChunkFn run_chunk = nullptr;
  int threads = 1;      ///< maximum, see threads_for
  bool stored = false;  ///< the division of work was stored with the matrix
  const std::int64_t* list_order =
      /// CSR positions of packed entries, for CPU plans whose lists are in CSR order if that differs
      nullptr;
  int forks = 0;  ///< fork count at creation: a CUDA plan is valid in one process only
  std::vector<Chunk> chunks;
  std::vector<std::int32_t> empty_rows;  ///< see WorkPlan
  RowSteps steps;                        ///< for csr
  std::vector<RowPiece> pieces;          ///< segments of long csr rows
  std::vector<Chunk> other_chunks;       ///< chunks of rows without segments
  ChunkFn sum_piece = nullptr;           ///< as run_chunk, with results of the accumulator type
};

/// Creates a plan for a format that is held for the device of the options.
Result<std::shared_ptr<ProductPlan>> plan_product(const Operation& op,
                                                  const std::shared_ptr<HeldFormat>& held,
                                                  const PlanOptions& options);

/// Returns the operand sizes of a run of n columns.
OperandSizes sizes_of(const ProductPlan& plan, std::int64_t n);

/// Returns whether the result has a number per entry in CSR order.
bool lists_in_csr_order(const Operation& op, const PlanOptions& options);

/// Checks options and returns the selected device; an empty DeviceInfo for the CPU.
Result<cuda::DeviceInfo> check_options(const PlanOptions& options);

/// Errc::unsupported if dense operands of the matrix exceed 64-bit byte offsets. run checks leading
/// dimensions again.
Status check_extent(std::int64_t rows, std::int64_t cols, const PlanOptions& options);

/// Errc::device if the plan needs a CUDA device that this forked process does not have.
Status check_process(const ProductPlan& plan, std::string_view call);

/// Chooses the CPU kernel for a held format and divides its work, or restores a stored plan.
Status plan_on_cpu(ProductPlan& plan);

/// Chooses the CUDA kernel for a held format, divides its work, and uploads the schedule and, unless it is
/// there, the format.
Status plan_on_device(ProductPlan& plan, const cuda::DeviceInfo& device);

}  // namespace sptile::runtime
