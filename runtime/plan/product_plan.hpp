// What planning makes and run reads.
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

/// Immutable after planning except through the values of its format; run needs no other memory.
class ProductPlan {
 public:
  const Operation* op = nullptr;
  std::shared_ptr<HeldFormat> held;  ///< shared with other plans
  PlanMatrix matrix;                 ///< that of `held`
  PlanOptions options;
  DType values = DType::none;  ///< element type of A; none for a pattern
  const Kernel* kernel = nullptr;
  Precision precision = Precision::fp32;
  std::shared_ptr<cuda::Plan> on_device;  ///< of a CUDA plan; it holds what follows in its own way
  ChunkFn run_chunk = nullptr;
  int threads = 1;      ///< at most, see threads_for
  bool stored = false;  ///< its work was divided before, and came with the matrix
  const std::int64_t* list_order =
      nullptr;    ///< of a CPU plan whose lists are in CSR order, where that differs
  int forks = 0;  ///< when it was made; a CUDA plan serves no other process
  std::vector<Chunk> chunks;
  std::vector<std::int32_t> empty_rows;  ///< see WorkPlan
  RowSteps steps;                        ///< of csr
  std::vector<RowPiece> pieces;          ///< of long rows of csr
  std::vector<Chunk> other_chunks;       ///< all but the rows that have pieces
  ChunkFn sum_piece = nullptr;           ///< as run_chunk, with results of the type of the sums
};

/// Plans for a format that is held for the device of the options.
Result<std::shared_ptr<ProductPlan>> plan_product(const Operation& op,
                                                  const std::shared_ptr<HeldFormat>& held,
                                                  const PlanOptions& options);

/// What its operands are for a run of n columns.
OperandSizes sizes_of(const ProductPlan& plan, std::int64_t n);

/// True for a plan whose result has a number for each entry, in CSR order.
bool lists_in_csr_order(const Operation& op, const PlanOptions& options);

/// Verifies options and finds the device that they name; none for the CPU.
Result<cuda::DeviceInfo> check_options(const PlanOptions& options);

/// Errc::unsupported when dense operands of a matrix cannot be addressed: offsets are counted in 64-bit
/// bytes, and leading dimensions are checked again by run.
Status check_extent(std::int64_t rows, std::int64_t cols, const PlanOptions& options);

/// Errc::device when the plan needs a CUDA device that this process, being forked, does not have.
Status check_process(const ProductPlan& plan, std::string_view call);

/// Chooses the CPU kernel for a held format and divides its work, or takes a stored plan.
Status plan_on_cpu(ProductPlan& plan);

/// Chooses the CUDA kernel for a held format, divides its work and uploads both, or the work alone when the
/// format is there.
Status plan_on_device(ProductPlan& plan, const cuda::DeviceInfo& device);

}  // namespace sptile::runtime
