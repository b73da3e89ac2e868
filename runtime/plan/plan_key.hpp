// When two plans are the same.
#pragma once

#include <string>

#include "runtime/kernels/kernels.hpp"
#include "runtime/matrix.hpp"

namespace sptile::runtime {

/// Columns of the dense operands, and heads.
struct PlannedColumns {
  std::int64_t n = 0, heads = 1;
  PlannedColumns(std::int64_t columns, std::int64_t of_heads = 1)  // NOLINT: most plans have one head
      : n(columns), heads(of_heads) {}
};

/// Everything that divides the work of a CUDA plan, as lines "name value": operation, format, kernel with the
/// version of its schedules, N, types, products, device. Equal texts are equal plans of one matrix.
std::string plan_key(const Operation& op, const PlanMatrix& a, const KernelChoice& kernel,
                     const PlannedColumns& columns, const cuda::DeviceInfo& device);

}  // namespace sptile::runtime
