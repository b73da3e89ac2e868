// When two plans are the same.
#pragma once

#include <string>

#include "runtime/kernels/kernels.hpp"
#include "runtime/matrix.hpp"

namespace sptile::runtime {

/// Returns everything that divides the work of a CUDA plan, as lines "name value": operation, format, kernel
/// with the version of its schedules, N, attributes that differ from their defaults, types, products, device.
/// Equal texts are equal plans of one matrix.
std::string plan_key(const Operation& op, const PlanMatrix& a, const KernelChoice& kernel, std::int64_t n,
                     const Variant& variant, const cuda::DeviceInfo& device);

}  // namespace sptile::runtime
