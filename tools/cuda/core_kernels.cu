#include "tools/cuda/core_kernels.hpp"

#include "runtime/cuda/device/ptx.cuh"

namespace sptile::tools::cuda {
namespace {

constexpr int kMmaChains = 8, kFmaChains = 16;  // independent sums, to hide the latency

// The sums start at different values, so that the compiler cannot merge them.
__device__ float multiply_tiles(int iterations, float operand) {
  float acc[kMmaChains][4];
  for (int i = 0; i < kMmaChains; ++i)
    for (int j = 0; j < 4; ++j) acc[i][j] = static_cast<float>(4 * i + j);
  const std::uint32_t bits = __float_as_uint(operand), a[4] = {bits, bits, bits, bits}, b[2] = {bits, bits};
  for (int i = 0; i < iterations; ++i)
#pragma unroll
    for (auto& sums : acc) runtime::cuda::mma_tf32(sums, a, b);
  float sum = 0;
  for (const auto& sums : acc) sum += sums[0] + sums[1] + sums[2] + sums[3];
  return sum;
}

__device__ float multiply_add(int iterations, float factor) {
  float acc[kFmaChains];
  for (int i = 0; i < kFmaChains; ++i) acc[i] = static_cast<float>(i);
  for (int i = 0; i < iterations; ++i)
#pragma unroll
    for (float& sum : acc) sum = fmaf(sum, factor, 1.0f);
  float total = 0;
  for (const float sum : acc) total += sum;
  return total;
}

// The operands depend on the thread, so that no product is computed at compile time. They are positive, so
// that the condition of the store is never true.
__global__ void use_cores(int mma_iterations, int fma_iterations, float* sink) {
  const float operand = 0.5f - 0.001f * static_cast<float>(threadIdx.x);
  const bool tensor = threadIdx.x / 32 < kCoreWarps / 2;
  const float sum = tensor ? multiply_tiles(mma_iterations, operand) : multiply_add(fma_iterations, operand);
  if (sum < 0) *sink = sum;
}

}  // namespace

int run_cores(int mma_iterations, int fma_iterations, int blocks, float* sink, cudaStream_t stream) {
  use_cores<<<static_cast<unsigned>(blocks), 32 * kCoreWarps, 0, stream>>>(mma_iterations, fma_iterations,
                                                                           sink);
  return cudaGetLastError();
}

}  // namespace sptile::tools::cuda
