// When two plans are the same.
#pragma once

#include <string>

#include "runtime/kernels/kernels.hpp"
#include "runtime/matrix.hpp"

namespace sptile::runtime {

/// Everything that divides the work of a CUDA plan, as lines "name value": operation, format, kernel with the
/// version of its schedules, N, types, products, device. Equal texts are equal plans of one matrix.
std::string plan_key(const Operation& op, const PlanMatrix& a, const KernelChoice& kernel, std::int64_t n,
                     const cuda::DeviceInfo& device);

}  // namespace sptile::runtime
