#include "runtime/cuda/device/current_device.hpp"
#include "runtime/cuda/device_format.hpp"

#include "runtime/cuda/convert/conversions.hpp"
#include "runtime/cuda/convert/cuda_run.cuh"

namespace sptile::runtime::cuda {

Result<DeviceFormat> convert_on_device(const formats::FormatLayout& layout, const DeviceCsr& csr,
                                       const ConvertParameters& parameters, void* stream) {
  const CurrentDevice current(csr.ordinal);
  if (Status s = current.status(); !s) return tl::unexpected(s.error());
  CudaRun run(static_cast<cudaStream_t>(stream));
  auto format = convert_on(run, layout, csr, parameters);
  run.wait();  // then what it worked in is given back
  return format;
}

Status download(int ordinal, const ArrayView& array, void* to) {
  const CurrentDevice current(ordinal);
  if (Status s = current.status(); !s) return s;
  CudaRun run(nullptr);
  run.fetch(static_cast<std::byte*>(to), static_cast<const std::byte*>(array.data), array.bytes());
  return run.status();
}

}  // namespace sptile::runtime::cuda
