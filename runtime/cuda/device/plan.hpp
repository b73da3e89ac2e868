// What make_plan makes and run reads.
#pragma once

#include <memory>

#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/device/device_buffer.hpp"

namespace sptile::runtime::cuda {

/// Immutable after planning except through refresh.
class Plan {
 public:
  const Operation* op = nullptr;
  const DeviceKernel* kernel = nullptr;
  DeviceInfo device;
  std::int64_t n = 0;          ///< of a run, at most
  formats::FormatView format;  ///< arrays on the device
  const std::int32_t* row_order = nullptr;
  const std::int64_t* value_source = nullptr;  ///< when refreshable
  const std::byte* schedule_bytes = nullptr;
  Schedule schedule;  ///< bytes are on the device only
  std::byte* workspace = nullptr;
  DeviceBuffer arrays;                                       ///< what was uploaded or copied of the matrix
  std::shared_ptr<const void> matrix_memory, source_memory;  ///< of a matrix that was there before
  DeviceBuffer work;                ///< the bytes of the schedule, then the workspace
  std::shared_ptr<void> resources;  ///< what the kernel wants beside memory
  DeviceBuffer fresh;  ///< values of the source CSR, kept from the first refresh out of host memory
};

/// Columns of a run.
inline std::int64_t columns_of(const Plan& plan, const Operands& operands) {
  return operands.n != 0 ? operands.n : plan.n;
}

}  // namespace sptile::runtime::cuda
