#include <algorithm>

#include "runtime/cuda/device/gather.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 1 << 16;

template <class T>
__global__ void gather_kernel(T* to, const T* __restrict__ from, const std::int64_t* __restrict__ position,
                              std::int64_t count) {
  const std::int64_t stride = std::int64_t{kThreads} * gridDim.x;
  for (std::int64_t i = std::int64_t{kThreads} * blockIdx.x + threadIdx.x; i < count; i += stride)
    to[i] = from[position[i]];
}

template <class T>
cudaError_t launch(void* to, const void* from, const std::int64_t* position, std::int64_t count,
                   cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(std::min((count + kThreads - 1) / kThreads, kMostBlocks));
  gather_kernel<<<blocks, kThreads, 0, stream>>>(static_cast<T*>(to), static_cast<const T*>(from), position,
                                                 count);
  return cudaGetLastError();
}

}  // namespace

cudaError_t gather(void* to, const void* from, const std::int64_t* position, std::int64_t count,
                   std::size_t width, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  if (width == 2) return launch<std::uint16_t>(to, from, position, count, stream);
  if (width == 4) return launch<std::uint32_t>(to, from, position, count, stream);
  return launch<std::uint64_t>(to, from, position, count, stream);
}

cudaError_t probe_code() {
  cudaFuncAttributes attributes;
  const cudaError_t code = cudaFuncGetAttributes(&attributes, gather_kernel<std::uint32_t>);
  if (code != cudaSuccess) cudaGetLastError();
  return code;
}

}  // namespace sptile::runtime::cuda
