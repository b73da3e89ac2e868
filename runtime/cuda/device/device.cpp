#include <algorithm>
#include <string>

#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/device/check.hpp"
#include "runtime/fork.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr int kLeastCapability = 80;

std::string dotted(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess ? value : 0;
}

/// "NVIDIA H100 80GB HBM3"; asks for it last, since it costs most.
std::string name_of_device(int ordinal) {
  cudaDeviceProp properties{};
  return cudaGetDeviceProperties(&properties, ordinal) == cudaSuccess ? properties.name : "unnamed";
}

std::size_t memory_of(int ordinal) {
  cudaDeviceProp properties{};
  return cudaGetDeviceProperties(&properties, ordinal) == cudaSuccess ? properties.totalGlobalMem : 0;
}

}  // namespace

bool built() { return true; }

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

Result<DeviceInfo> find_device(int ordinal) {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaErrorInsufficientDriver)  // also what no driver at all looks like
    return fail(Errc::device, "there is no CUDA driver, or it is older than CUDA " +
                                  std::to_string(CUDART_VERSION / 1000) + "." +
                                  std::to_string(CUDART_VERSION % 1000 / 10) + " needs; use the CPU");
  if (code != cudaSuccess && code != cudaErrorNoDevice)
    return fail(Errc::device,
                std::string("no CUDA device can be used: ") + cudaGetErrorString(code) +
                    (forks() > 0 ? "; this process was forked: start it afresh (exec, spawn), or "
                                   "use CUDA in the child alone"
                                 : ""));
  if (count == 0) return fail(Errc::device, "there is no CUDA device; use the CPU");
  if (ordinal < 0 || ordinal >= count)
    return fail(Errc::device, "there is no CUDA device " + std::to_string(ordinal) +
                                  "; there are devices 0 to " + std::to_string(count - 1));
  DeviceInfo info;
  info.ordinal = ordinal;
  info.capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor, ordinal) +
                    attribute(cudaDevAttrComputeCapabilityMinor, ordinal);
  info.name = name_of_device(ordinal);
  if (info.capability < kLeastCapability)
    return fail(Errc::device, "CUDA device " + std::to_string(ordinal) + " (" + info.name +
                                  ") has compute capability " + dotted(info.capability) + "; sptile needs " +
                                  dotted(kLeastCapability) + " or newer");
  info.sm_count = attribute(cudaDevAttrMultiProcessorCount, ordinal);
  info.l2_bytes = static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize, ordinal));
  info.shared_per_block =
      static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal));
  info.memory = memory_of(ordinal);
  return info;
}

}  // namespace sptile::runtime::cuda
