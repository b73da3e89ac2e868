// When two plans are the same.
#pragma once

#include <string>

#include "runtime/core/matrix.hpp"
#include "runtime/kernels/kernels.hpp"

namespace sptile::runtime {

/// Returns everything that divides the work of a plan, as lines "name value": operation, format, kernel with
/// the version of what is stored of its plans, n, attributes that differ from their defaults, types,
/// precision, device. A CUDA device is its capability, multiprocessors and memories, which `device` has; the
/// CPU is its number of threads where the operation is divided by them. Plans of one matrix with equal texts
/// are equal. `kernel` must be one whose plans are stored.
std::string plan_key(const Operation& op, const PlanMatrix& a, const KernelChoice& kernel,
                     const PlanOptions& options, const cuda::DeviceInfo& device);

}  // namespace sptile::runtime
