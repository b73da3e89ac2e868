// The seam in a build without nvcc.
#include <cassert>

#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/device_format.hpp"

namespace sptile::runtime::cuda {

class Plan {};

bool built() { return false; }
int device_count() { return 0; }

Result<DeviceInfo> find_device(int) {
  return fail(Errc::unsupported,
              "this build has no kernels for CUDA devices; use the CPU, or build where nvcc is");
}

Result<std::shared_ptr<Plan>> make_plan(const PlanRequest& request) {
  return tl::unexpected(find_device(request.device.ordinal).error());
}

Result<DeviceFormat> convert_on_device(const formats::FormatLayout&, const DeviceCsr& csr,
                                       const ConvertParameters&, void*) {
  return tl::unexpected(find_device(csr.ordinal).error());
}

Result<UploadedCsr> upload_csr(const formats::CsrView&, int ordinal) {
  return tl::unexpected(find_device(ordinal).error());
}

Status download(int ordinal, const ArrayView&, void*) { return tl::unexpected(find_device(ordinal).error()); }

Status run(const Plan&, const Operands&, void*) noexcept {
  assert(!"no plan was ever made");
  return {};
}

Result<std::vector<double>> run_from_host(const Plan&, const Operands&, int, int) {
  return tl::unexpected(find_device(0).error());
}

Result<std::shared_ptr<std::byte>> make_scratch(int ordinal, std::span<const std::byte>, std::size_t) {
  return tl::unexpected(find_device(ordinal).error());
}

Result<std::vector<double>> time_groups(const Plan&, const Operands&, int, int) {
  return tl::unexpected(find_device(0).error());
}

Status refresh(Plan&, ArrayView) {
  assert(!"no plan was ever made");
  return {};
}

Status refresh_packed(Plan&, const void*, void*) {
  assert(!"no plan was ever made");
  return {};
}

std::size_t workspace_bytes(const Plan&) { return 0; }

std::int64_t least_n(const Plan&) { return 1; }

const ScheduleHeader& schedule_header(const Plan&) {
  static const ScheduleHeader none;
  return none;
}

}  // namespace sptile::runtime::cuda
