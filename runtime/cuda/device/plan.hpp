// What make_plan makes and run reads.
#pragma once

#include <memory>
#include <span>

#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/device/device_buffer.hpp"
#include "runtime/cuda/device_format.hpp"

namespace sptile::runtime::cuda {

/// Immutable after planning; what is refreshed are values of its matrix.
class Plan {
 public:
  const Operation* op = nullptr;
  const DeviceKernel* kernel = nullptr;
  DeviceInfo device;
  std::int64_t n = 0;  ///< of a run, at most
  Variant variant;
  DType values = DType::none;            ///< of the matrix
  std::shared_ptr<DeviceFormat> matrix;  ///< shared with other plans
  const std::byte* schedule_bytes = nullptr;
  bool csr_lists = false;  ///< lists go through the end of the workspace into CSR order
  Schedule schedule;       ///< bytes are on the device only
  std::byte* workspace = nullptr;
  DeviceBuffer work;            ///< the bytes of the schedule, then the workspace
  std::shared_ptr<Plan> first;  ///< null, or: runs before; its operands are these of this one
  std::span<const int> operands_of_first;
  std::shared_ptr<void> resources;  ///< what the kernel wants beside memory
};

/// Columns of a run.
inline std::int64_t columns_of(const Plan& plan, const Operands& operands) {
  return operands.n != 0 ? operands.n : plan.n;
}

/// What its operands are for a run of n columns.
inline OperandSizes sizes_of(const Plan& plan, std::int64_t n) {
  const formats::FormatView& a = plan.matrix->view;
  const Variant& variant = plan.variant;
  const RunSizes run = {n, variant.m != 0 ? variant.m : plan.n, variant.heads};
  return {a.rows, a.cols, a.nnz, run, variant.transposed_weights};
}

}  // namespace sptile::runtime::cuda
