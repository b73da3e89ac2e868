// What plan_spmm and plan_sddmm make and run reads.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/cuda/backend.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/plan/plan.hpp"
#include "runtime/cpu/cpu_kernels.hpp"

namespace sptile::runtime {

/// Immutable after planning except through refresh_values; run needs no other memory.
class ProductPlan {
 public:
  std::string_view op;  ///< of kernels(): "spmm"
  PlanMatrix matrix;    ///< value arrays point into own_values when refreshable
  PlanOptions options;
  DType values = DType::none;  ///< element type of A; none for a pattern
  const Kernel* kernel = nullptr;
  Precision precision = Precision::fp32;
  std::shared_ptr<cuda::Plan> on_device;  ///< of a CUDA plan; it holds what follows in its own way
  ChunkFn run_chunk = nullptr;
  int threads = 1;  ///< that run uses, but in a forked process; never more than there are chunks
  int forks = 0;    ///< when it was made; a CUDA plan serves no other process
  std::vector<Chunk> chunks;
  std::vector<std::int32_t> empty_rows;  ///< see WorkPlan
  std::vector<std::byte> own_values;     ///< all value arrays of the format, one after the other
};

/// What plan_spmm and plan_sddmm do.
Result<std::shared_ptr<ProductPlan>> plan_product(std::string_view op, const PlanMatrix& a,
                                                  const PlanOptions& options);

/// A good matrix that is on a device already; see cuda::PlanRequest.
struct DeviceMatrix {
  const cuda::DeviceFormat* format = nullptr;
  const std::int32_t* row_order = nullptr;
};

/// The same for a matrix that sptile made on a device, of which `a` has what schedules read.
Result<std::shared_ptr<ProductPlan>> plan_product(std::string_view op, const PlanMatrix& a,
                                                  const DeviceMatrix& on_device, const PlanOptions& options);

/// Verifies options and finds the device that they name; none for the CPU.
Result<cuda::DeviceInfo> check_options(const PlanOptions& options);

/// Errc::unsupported when dense operands of a matrix cannot be addressed: offsets are counted in 64-bit
/// bytes, and leading dimensions are checked again by run.
Status check_extent(std::int64_t rows, std::int64_t cols, const PlanOptions& options);

/// Verifies before a run that a row-major operand of so many rows is there and can be addressed.
Status check_operand(const ProductPlan& plan, const char* name, const void* data, std::int64_t stride,
                     std::int64_t rows);

/// Errc::device when the plan needs a CUDA device that this process, being forked, does not have.
Status check_process(const ProductPlan& plan, std::string_view call);

/// Errc::usage when the plan is of another operation; then as check_process.
Status check_operation(const ProductPlan& plan, std::string_view op);

/// Runs a plan for the CPU on the task of its operation.
void run_chunks(const ProductPlan& plan, const MatrixTask& task) noexcept;

/// The same warmup + repeat times; the seconds of each of the last `repeat` runs.
std::vector<double> time_chunks(const ProductPlan& plan, const MatrixTask& task, int warmup, int repeat);

/// What a task needs of the plan's matrix.
MatrixTask matrix_task(const ProductPlan& plan);

/// True when a kernel for the CPU has an instance for these types.
bool has_instance(const Kernel& kernel, DType values, DType dense);

/// How kernels for the CPU form products of dense operands of this type.
Precision cpu_precision(DType dense);

/// Finds the instance of a CUDA kernel that a plan would run on a device: of its precisions the default one,
/// or the least exact one that satisfies options.precision. Null when there is none.
const cuda::DeviceKernel* find_instance(const Kernel& kernel, DType values, const PlanOptions& options,
                                        const cuda::DeviceInfo& device);

/// What decides which kernel can run, of an operation and its matrix.
struct Multiplicand {
  std::string_view op, format;
  DType values = DType::none;
};

/// A kernel for CUDA and its instance.
struct KernelChoice {
  const Kernel* kernel = nullptr;
  const cuda::DeviceKernel* instance = nullptr;
};

/// Finds the best one of those that options allow. Errc::unsupported, or Errc::usage for a named kernel, with
/// what there is.
Result<KernelChoice> choose_kernel(const Multiplicand& a, const PlanOptions& options,
                                   const cuda::DeviceInfo& device);

/// Chooses the CUDA kernel for a checked matrix, divides its work and uploads both, or the work alone when
/// the matrix is there.
Status plan_on_device(ProductPlan& plan, const cuda::DeviceInfo& device, const DeviceMatrix& on_device);

}  // namespace sptile::runtime
