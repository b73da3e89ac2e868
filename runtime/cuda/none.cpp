// The seam in a build without nvcc.
#include <cassert>

#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/device_input.hpp"
#include "runtime/cuda/not_built.hpp"

namespace sptile::runtime::cuda {

class Plan {};

bool built() { return false; }
int device_count() { return 0; }
Versions versions() { return {}; }

Result<DeviceInfo> find_device(int) { return not_built(); }

Result<std::shared_ptr<Plan>> make_plan(const PlanRequest&) { return not_built(); }

Status run(const Plan&, const Operands&, void*) {
  assert(!"no plan was created");
  return {};
}

Result<std::vector<double>> run_from_host(const Plan&, const Operands&, int, int) { return not_built(); }

Result<std::shared_ptr<std::byte>> make_scratch(int, std::span<const std::byte>, std::size_t) {
  return not_built();
}

Result<std::vector<double>> time_groups(const Plan&, const Operands&, int, int) { return not_built(); }

bool is_device_memory(const void*) { return false; }

Status wait(int, void*) { return not_built(); }

Status follow_positions(DeviceFormat&, const OwnedCsr&, void*) { return not_built(); }

Status refresh(DeviceFormat&, ArrayView, void*) {
  assert(!"no matrix was uploaded");
  return {};
}

Status refresh_packed(DeviceFormat&, const void*, void*) {
  assert(!"no matrix was uploaded");
  return {};
}

Status upload_source(DeviceFormat&, ArrayView) { return not_built(); }

Result<ArrayView> unpack(DeviceFormat&, ArrayView, void*) { return not_built(); }

const std::shared_ptr<DeviceFormat>& matrix_of(const Plan&) {
  static const std::shared_ptr<DeviceFormat> none;
  return none;
}

std::size_t workspace_bytes(const Plan&) { return 0; }

std::int64_t least_n(const Plan&) { return 1; }

const ScheduleHeader& schedule_header(const Plan&) {
  static const ScheduleHeader none;
  return none;
}

}  // namespace sptile::runtime::cuda
