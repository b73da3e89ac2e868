// The functions of CUDA that plans call, on emulated devices: memory is the host's, and work is done at once.
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>

#include "runtime/cuda/device/gather.hpp"
#include "tests/runtime/cuda/emulated_devices.hpp"

struct CUevent_st {
  std::chrono::steady_clock::time_point at;
};

namespace {

using sptile::test::kEmulatedDevices;

/// Allocations, so that pointers to a device are known from others.
std::map<const std::byte*, std::size_t>& allocations() {
  static auto* const all = new std::map<const std::byte*, std::size_t>;
  return *all;
}

int current = 0;

/// As on a device.
constexpr std::size_t kAlignment = 256;

template <class T>
void move(void* to, const void* from, const std::int64_t* position, std::int64_t count, bool gathers) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = position[i];
    static_cast<T*>(to)[gathers ? i : at] = static_cast<const T*>(from)[gathers ? at : i];
  }
}

void move(void* to, const void* from, const std::int64_t* position, std::int64_t count, std::size_t width,
          bool gathers) {
  if (width == 2) return move<std::uint16_t>(to, from, position, count, gathers);
  if (width == 4) return move<std::uint32_t>(to, from, position, count, gathers);
  move<std::uint64_t>(to, from, position, count, gathers);
}

}  // namespace

cudaError_t cudaGetDevice(int* ordinal) { return *ordinal = current, cudaSuccess; }
cudaError_t cudaSetDevice(int ordinal) { return current = ordinal, cudaSuccess; }
cudaError_t cudaGetDeviceCount(int* count) {
  return *count = static_cast<int>(std::size(kEmulatedDevices)), cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int ordinal) {
  const sptile::test::EmulatedDeviceSizes& device = kEmulatedDevices[ordinal];
  switch (which) {
    case cudaDevAttrComputeCapabilityMajor:
      *value = device.capability / 10;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = device.capability % 10;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = device.sm_count;
      break;
    case cudaDevAttrL2CacheSize:
      *value = device.l2_bytes;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = 227 << 10;
      break;
  }
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::strcpy(properties->name, "emulated");
  properties->totalGlobalMem = std::size_t{1} << 30;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t code) {
  return code == cudaErrorInvalidValue ? "invalid value" : "error";
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  if (posix_memalign(memory, kAlignment, bytes) != 0) return cudaErrorInvalidValue;
  allocations()[static_cast<const std::byte*>(*memory)] = bytes;
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  allocations().erase(static_cast<const std::byte*>(memory));
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return *free = *total = std::size_t{1} << 30, cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  const auto* const at = static_cast<const std::byte*>(pointer);
  auto after = allocations().upper_bound(at);
  const bool known = after != allocations().begin() && at < (--after)->first + after->second;
  attributes->type = known ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  return cudaSuccess;
}

// Without pools each allocation is one of its own, whose ends sanitizers know.
cudaError_t cudaMemPoolCreate(cudaMemPool_t*, const cudaMemPoolProps*) { return cudaErrorNotSupported; }
cudaError_t cudaMemPoolDestroy(cudaMemPool_t) { return cudaErrorNotSupported; }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaErrorNotSupported; }
cudaError_t cudaMallocFromPoolAsync(void**, std::size_t, cudaMemPool_t, cudaStream_t) {
  return cudaErrorNotSupported;
}
cudaError_t cudaFreeAsync(void*, cudaStream_t) { return cudaErrorNotSupported; }

cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  static void* kept = nullptr;  // reachable until the end, as its owner is never destroyed
  return *memory = kept = std::malloc(bytes), cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  static char one;
  return *stream = reinterpret_cast<cudaStream_t>(&one), cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t* event) { return *event = new CUevent_st, cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  static CUevent_st untimed;
  return *event = &untimed, cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  return event->at = std::chrono::steady_clock::now(), cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  *milliseconds = std::chrono::duration<float, std::milli>(end->at - begin->at).count();
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t) {
  return std::memset(to, byte, bytes), cudaSuccess;
}

namespace sptile::runtime::cuda {

cudaError_t gather(void* to, const void* from, const std::int64_t* position, std::int64_t count,
                   std::size_t width, cudaStream_t) {
  return move(to, from, position, count, width, true), cudaSuccess;
}
cudaError_t scatter(void* to, const void* from, const std::int64_t* position, std::int64_t count,
                    std::size_t width, cudaStream_t) {
  return move(to, from, position, count, width, false), cudaSuccess;
}
cudaError_t probe_code() { return cudaSuccess; }

}  // namespace sptile::runtime::cuda
