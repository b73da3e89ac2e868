// The plan that make_plan creates and run executes.
#pragma once

#include <memory>
#include <span>

#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/device/device_buffer.hpp"
#include "runtime/cuda/device_format.hpp"

namespace sptile::runtime::cuda {

/// Immutable after planning, except for the values of its matrix.
class Plan {
 public:
  const Operation* op = nullptr;
  const DeviceKernel* kernel = nullptr;
  DeviceInfo device;
  std::int64_t n = 0;  ///< maximum number of columns of a run
  Variant variant;
  DType values = DType::none;            ///< value type of the matrix
  std::shared_ptr<DeviceFormat> matrix;  ///< shared with other plans
  const std::byte* schedule_bytes = nullptr;
  bool csr_lists = false;  ///< per-entry operands are in CSR order; packed copies are at the end of the
                           ///< workspace
  Schedule schedule;       ///< the bytes are only on the device
  std::byte* workspace = nullptr;
  DeviceBuffer work;            ///< the bytes of the schedule, then the workspace
  std::shared_ptr<Plan> first;  ///< step to run first, or null; its operands are the listed ones of this plan
  std::span<const int> operands_of_first;
  std::shared_ptr<void> resources;  ///< resources of the kernel other than memory
};

/// Returns the number of columns of a run.
inline std::int64_t columns_of(const Plan& plan, const Operands& operands) {
  return operands.n != 0 ? operands.n : plan.n;
}

/// Returns the operand sizes for a run of n columns.
inline OperandSizes sizes_of(const Plan& plan, std::int64_t n) {
  const formats::FormatView& a = plan.matrix->view;
  const Variant& variant = plan.variant;
  const RunSizes run = {n, variant.m != 0 ? variant.m : plan.n, variant.heads};
  return {a.rows, a.cols, a.nnz, run, variant.transposed_weights};
}

}  // namespace sptile::runtime::cuda
