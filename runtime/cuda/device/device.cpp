#include <map>
#include <mutex>
#include <string>

#include "formats/core/fork.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/device/check.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr int kMinCapability = 80;

std::string dotted(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess ? value : 0;
}

DeviceInfo ask_device(int ordinal) {
  DeviceInfo info;
  info.ordinal = ordinal;
  info.capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor, ordinal) +
                    attribute(cudaDevAttrComputeCapabilityMinor, ordinal);
  info.sm_count = attribute(cudaDevAttrMultiProcessorCount, ordinal);
  info.l2_bytes = static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize, ordinal));
  info.shared_per_block =
      static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal));
  cudaDeviceProp properties{};
  const bool known = cudaGetDeviceProperties(&properties, ordinal) == cudaSuccess;
  info.memory = known ? properties.totalGlobalMem : 0;
  info.name = known ? properties.name : "unnamed";  // "NVIDIA H100 80GB HBM3"
  return info;
}

/// Caches the properties of each device: planning needs them several times, and a query takes as long as a
/// small upload.
DeviceInfo info_of(int ordinal) {
  static auto* const mutex = new std::mutex;
  static auto* const known = new std::map<int, DeviceInfo>;
  const std::lock_guard lock(*mutex);
  const auto found = known->find(ordinal);
  return found != known->end() ? found->second : known->emplace(ordinal, ask_device(ordinal)).first->second;
}

}  // namespace

bool built() { return true; }

Versions versions() {
  Versions found{CUDART_VERSION, 0};
  if (cudaDriverGetVersion(&found.driver) != cudaSuccess) found.driver = 0;
  return found;
}

std::span<const int> built_capabilities() {
  static constexpr int kCapabilities[] = {SPTILE_CAPABILITIES};
  return kCapabilities;
}

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

Result<DeviceInfo> find_device(int ordinal) {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaErrorInsufficientDriver)  // also returned if there is no driver
    return fail(Errc::device, "no CUDA driver, or one older than CUDA " +
                                  std::to_string(CUDART_VERSION / 1000) + "." +
                                  std::to_string(CUDART_VERSION % 1000 / 10) + " requires; use the CPU");
  if (code != cudaSuccess && code != cudaErrorNoDevice)
    return fail(
        Errc::device,
        std::string("no usable CUDA device: ") + cudaGetErrorString(code) +
            (forks() > 0
                 ? "; this process was forked; start it with exec or spawn, or use CUDA only in the child"
                 : ""));
  if (count == 0) return fail(Errc::device, "no CUDA device; use the CPU");
  if (ordinal < 0 || ordinal >= count)
    return fail(Errc::device, "no CUDA device " + std::to_string(ordinal) + "; devices are 0 to " +
                                  std::to_string(count - 1));
  DeviceInfo info = info_of(ordinal);
  if (info.capability < kMinCapability)
    return fail(Errc::device, "CUDA device " + std::to_string(ordinal) + " (" + info.name +
                                  ") has compute capability " + dotted(info.capability) + "; sptile needs " +
                                  dotted(kMinCapability) + " or newer");
  return info;
}

}  // namespace sptile::runtime::cuda
