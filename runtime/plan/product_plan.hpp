// What planning makes and run reads.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/cpu/cpu_kernels.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/kernel.hpp"
#include "runtime/plan/plan.hpp"

namespace sptile::runtime {

/// Immutable after planning except through refresh_values; run needs no other memory.
class ProductPlan {
 public:
  const Operation* op = nullptr;
  PlanMatrix matrix;  ///< value arrays point into own_values when refreshable
  PlanOptions options;
  DType values = DType::none;  ///< element type of A; none for a pattern
  const Kernel* kernel = nullptr;
  Precision precision = Precision::fp32;
  std::shared_ptr<cuda::Plan> on_device;  ///< of a CUDA plan; it holds what follows in its own way
  ChunkFn run_chunk = nullptr;
  int threads = 1;      ///< that run uses, but in a forked process; never more than there are chunks
  bool stored = false;  ///< its work was divided before, and came with the matrix
  int forks = 0;        ///< when it was made; a CUDA plan serves no other process
  std::vector<Chunk> chunks;
  std::vector<std::int32_t> empty_rows;  ///< see WorkPlan
  std::vector<std::byte> own_values;     ///< all value arrays of the format, one after the other
};

/// A good matrix that is on a device already; see cuda::PlanRequest.
struct DeviceMatrix {
  const cuda::DeviceFormat* format = nullptr;
  const std::int32_t* row_order = nullptr;
};

/// As plan_product for a matrix that sptile made on a device, of which `a` has what schedules read.
Result<std::shared_ptr<ProductPlan>> plan_product(const Operation& op, const PlanMatrix& a,
                                                  const DeviceMatrix& on_device, const PlanOptions& options);

/// Verifies options and finds the device that they name; none for the CPU.
Result<cuda::DeviceInfo> check_options(const PlanOptions& options);

/// Errc::unsupported when dense operands of a matrix cannot be addressed: offsets are counted in 64-bit
/// bytes, and leading dimensions are checked again by run.
Status check_extent(std::int64_t rows, std::int64_t cols, const PlanOptions& options);

/// Errc::device when the plan needs a CUDA device that this process, being forked, does not have.
Status check_process(const ProductPlan& plan, std::string_view call);

/// Chooses the CUDA kernel for a checked matrix, divides its work and uploads both, or the work alone when
/// the matrix is there.
Status plan_on_device(ProductPlan& plan, const cuda::DeviceInfo& device, const DeviceMatrix& on_device);

}  // namespace sptile::runtime
