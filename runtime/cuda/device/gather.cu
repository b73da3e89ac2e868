#include <algorithm>

#include "runtime/cuda/device/gather.hpp"
#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMaxBlocks = 1 << 16;

template <class T>
struct Gather {
  SPTILE_HOST_DEVICE static void move(T* to, const T* from, std::int64_t position, std::int64_t i) {
    to[i] = from[position];
  }
};

template <class T>
struct Scatter {
  SPTILE_HOST_DEVICE static void move(T* to, const T* from, std::int64_t position, std::int64_t i) {
    to[position] = from[i];
  }
};

template <template <class> class Way, class T>
__global__ void move_kernel(T* to, const T* __restrict__ from, const std::int64_t* __restrict__ position,
                            std::int64_t count) {
  const std::int64_t stride = std::int64_t{kThreads} * gridDim.x;
  for (std::int64_t i = std::int64_t{kThreads} * blockIdx.x + threadIdx.x; i < count; i += stride)
    Way<T>::move(to, from, position[i], i);
}

template <template <class> class Way, class T>
cudaError_t launch(void* to, const void* from, const std::int64_t* position, std::int64_t count,
                   cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(std::min((count + kThreads - 1) / kThreads, kMaxBlocks));
  move_kernel<Way, T>
      <<<blocks, kThreads, 0, stream>>>(static_cast<T*>(to), static_cast<const T*>(from), position, count);
  return cudaGetLastError();
}

template <template <class> class Way>
cudaError_t launch_for(std::size_t width, void* to, const void* from, const std::int64_t* position,
                       std::int64_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  if (width == 2) return launch<Way, std::uint16_t>(to, from, position, count, stream);
  if (width == 4) return launch<Way, std::uint32_t>(to, from, position, count, stream);
  return launch<Way, std::uint64_t>(to, from, position, count, stream);
}

}  // namespace

cudaError_t gather(void* to, const void* from, const std::int64_t* position, std::int64_t count,
                   std::size_t width, cudaStream_t stream) {
  return launch_for<Gather>(width, to, from, position, count, stream);
}

cudaError_t scatter(void* to, const void* from, const std::int64_t* position, std::int64_t count,
                    std::size_t width, cudaStream_t stream) {
  return launch_for<Scatter>(width, to, from, position, count, stream);
}

cudaError_t probe_code() {
  cudaFuncAttributes attributes;
  const cudaError_t code = cudaFuncGetAttributes(&attributes, move_kernel<Gather, std::uint32_t>);
  if (code != cudaSuccess) cudaGetLastError();
  return code;
}

}  // namespace sptile::runtime::cuda
