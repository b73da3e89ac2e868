#include "runtime/cuda/device/current_device.hpp"

#include <string>

#include "runtime/cuda/device/check.hpp"
#include "runtime/cuda/device/gather.hpp"

namespace sptile::runtime::cuda {

CurrentDevice::CurrentDevice(int ordinal) noexcept {
  if (cudaGetDevice(&before_) != cudaSuccess) before_ = ordinal;
  changed_ = before_ != ordinal;
  if (changed_) status_ = cudaSetDevice(ordinal);
}

CurrentDevice::~CurrentDevice() {
  if (changed_) cudaSetDevice(before_);
}

Status CurrentDevice::status() const { return check(status_, "selecting the device"); }

Status check_code(const DeviceInfo& device) {
  const cudaError_t code = probe_code();
  if (code != cudaErrorNoKernelImageForDevice && code != cudaErrorInvalidDeviceFunction)
    return check(code, "initializing the device");
  return fail(Errc::device,
              "this build has no code for CUDA device " + std::to_string(device.ordinal) + " (" +
                  device.name + ", compute capability " + std::to_string(device.capability / 10) + "." +
                  std::to_string(device.capability % 10) + "); build with this architecture in -Dgpu_arch");
}

}  // namespace sptile::runtime::cuda
