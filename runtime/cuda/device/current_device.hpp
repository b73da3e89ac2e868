// Scoped selection of the current device.
#pragma once

#include <cuda_runtime_api.h>

#include "formats/core/error.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

/// Makes a device current during its lifetime.
class CurrentDevice {
 public:
  explicit CurrentDevice(int ordinal) noexcept;
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice();
  [[nodiscard]] Status status() const;

 private:
  int before_ = 0;
  bool changed_ = false;
  cudaError_t status_ = cudaSuccess;
};

/// Errc::device if this build has no code for the current device.
Status check_code(const DeviceInfo& device);

}  // namespace sptile::runtime::cuda
