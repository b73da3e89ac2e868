#include "runtime/cuda/convert/conversions.hpp"
#include "runtime/cuda/convert/cuda_run.cuh"
#include "runtime/cuda/device/current_device.hpp"
#include "runtime/cuda/device_input.hpp"

namespace sptile::runtime::cuda {

Result<DeviceFormat> convert_on_device(const formats::FormatLayout& layout, const DeviceCsr& csr,
                                       const ConvertParameters& parameters, void* stream) {
  return on_device(csr.ordinal, stream,
                   [&](CudaRun& run) { return convert_on(run, layout, csr, parameters); });
}

Result<ValueSource> make_value_source(const formats::FormatView& format, const DeviceCsr& a,
                                      const ConvertParameters& parameters, void* stream) {
  return on_device(a.ordinal, stream,
                   [&](CudaRun& run) { return value_source_on(run, format, a, parameters); });
}

Status download(int ordinal, const ArrayView& array, void* to) {
  const CurrentDevice current(ordinal);
  if (Status s = current.status(); !s) return s;
  CudaRun run(nullptr);
  run.download(static_cast<std::byte*>(to), static_cast<const std::byte*>(array.data), array.bytes());
  return run.status();
}

}  // namespace sptile::runtime::cuda
