// Keys that identify stored plans.
#pragma once

#include <string>

#include "runtime/core/matrix.hpp"
#include "runtime/kernels/kernels.hpp"

namespace sptile::runtime {

/// Returns all properties that determine a plan's division of work, as lines "name value": operation, format,
/// kernel with the version of its stored schedules, n, attributes that differ from their defaults, types,
/// precision, device. A CUDA device is identified by its capability, multiprocessors and memories, which
/// `device` contains; the CPU by its number of threads, if the operation's work is divided by threads. Plans
/// of one matrix with equal keys are equal. `kernel` must support stored plans.
std::string plan_key(const Operation& op, const PlanMatrix& a, const KernelChoice& kernel,
                     const PlanOptions& options, const cuda::DeviceInfo& device);

}  // namespace sptile::runtime
