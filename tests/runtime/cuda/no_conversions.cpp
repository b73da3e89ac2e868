// Conversions and checks on devices, which are not emulated.
#include "runtime/cuda/device_input.hpp"
#include "runtime/cuda/device_order.hpp"
#include "runtime/cuda/format_check.hpp"
#include "runtime/cuda/not_built.hpp"
#include "runtime/cuda/papers/libra_streams/balance.hpp"

namespace sptile::runtime::cuda {

bool has_device_check(const formats::FormatLayout&) { return false; }

Status start_check(const DeviceFormat&, std::uint32_t*, void*) { return not_built(); }

Result<DeviceFormat> convert_on_device(const formats::FormatLayout&, const DeviceCsr&,
                                       const ConvertParameters&, void*) {
  return not_built();
}

Result<OwnedCsr> canonical_csr(const DeviceEntries&, const EntryOptions&, void*) { return not_built(); }

Result<OwnedCsr> join_csr(std::span<const DeviceEntries>, Arrangement, const EntryOptions&, void*) {
  return not_built();
}

Status put_values(const OwnedCsr&, const void*, void*, void*) { return not_built(); }

Result<OwnedCsr> transpose_on_device(const DeviceCsr&, bool, void*) { return not_built(); }

Result<bool> equal_on_device(const DeviceCsr&, const DeviceCsr&, void*) { return not_built(); }

Result<ValueSource> make_value_source(const formats::FormatView&, const DeviceCsr&, const ConvertParameters&,
                                      void*) {
  return not_built();
}

Result<UploadedCsr> upload_csr(const formats::CsrView&, int, std::span<const std::int32_t>) {
  return not_built();
}

Result<DeviceBalance> balance_on_device(const formats::LibraView&, const LibraSizes&, int) {
  return not_built();
}

Result<DeviceOrder> rabbit_on_device(const DeviceCsr&, void*) { return not_built(); }

Result<DeviceOrder> pack_on_device(const DeviceCsr&, const PackParameters&, void*) { return not_built(); }

Status download(int, const ArrayView&, void*) { return not_built(); }

}  // namespace sptile::runtime::cuda
