// The seam in a build without nvcc.
#include <cassert>

#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/device_input.hpp"
#include "runtime/cuda/format_check.hpp"

namespace sptile::runtime::cuda {

class Plan {};

bool built() { return false; }
int device_count() { return 0; }
Versions versions() { return {}; }

Result<DeviceInfo> find_device(int) {
  return fail(Errc::unsupported,
              "this build has no kernels for CUDA devices; use the CPU, or build where nvcc is");
}

Result<std::shared_ptr<Plan>> make_plan(const PlanRequest& request) {
  return tl::unexpected(find_device(request.device.ordinal).error());
}

bool has_device_check(const formats::FormatLayout&) { return false; }

Status start_check(const DeviceFormat& format, std::uint32_t*, void*) {
  return tl::unexpected(find_device(format.ordinal).error());
}

Result<DeviceFormat> convert_on_device(const formats::FormatLayout&, const DeviceCsr& csr,
                                       const ConvertParameters&, void*) {
  return tl::unexpected(find_device(csr.ordinal).error());
}

Result<OwnedCsr> canonical_csr(const DeviceEntries& entries, const EntryOptions&, void*) {
  return tl::unexpected(find_device(entries.ordinal).error());
}

Result<OwnedCsr> join_csr(std::span<const DeviceEntries> parts, Arrangement, const EntryOptions&, void*) {
  return tl::unexpected(find_device(parts.empty() ? 0 : parts.front().ordinal).error());
}

Status put_values(const OwnedCsr& a, const void*, void*, void*) {
  return tl::unexpected(find_device(a.csr.ordinal).error());
}

Result<OwnedCsr> transpose_on_device(const DeviceCsr& a, bool, void*) {
  return tl::unexpected(find_device(a.ordinal).error());
}

Result<bool> equal_on_device(const DeviceCsr& a, const DeviceCsr&, void*) {
  return tl::unexpected(find_device(a.ordinal).error());
}

Result<ValueSource> make_value_source(const formats::FormatView&, const DeviceCsr& a,
                                      const ConvertParameters&, void*) {
  return tl::unexpected(find_device(a.ordinal).error());
}

Result<UploadedCsr> upload_csr(const formats::CsrView&, int ordinal, std::span<const std::int32_t>) {
  return tl::unexpected(find_device(ordinal).error());
}

Status download(int ordinal, const ArrayView&, void*) { return tl::unexpected(find_device(ordinal).error()); }

Status run(const Plan&, const Operands&, void*) {
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

bool is_device_memory(const void*) { return false; }

Status wait(int ordinal, void*) { return tl::unexpected(find_device(ordinal).error()); }

Status follow_positions(DeviceFormat& format, const OwnedCsr&, void*) {
  return tl::unexpected(find_device(format.ordinal).error());
}

Status refresh(DeviceFormat&, ArrayView, void*) {
  assert(!"no matrix was ever uploaded");
  return {};
}

Status refresh_packed(DeviceFormat&, const void*, void*) {
  assert(!"no matrix was ever uploaded");
  return {};
}

Status upload_source(DeviceFormat& matrix, ArrayView) {
  return tl::unexpected(find_device(matrix.ordinal).error());
}

Result<ArrayView> unpack(DeviceFormat& order, ArrayView, void*) {
  return tl::unexpected(find_device(order.ordinal).error());
}

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
