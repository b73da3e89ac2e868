// Adding to rows of C that others add to at the same time.
#pragma once

#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

/// Adds four numbers to aligned memory: one instruction from Hopper on.
__device__ __forceinline__ void add_four(float* to, const float (&x)[4], float alpha) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  atomicAdd(reinterpret_cast<float4*>(to),
            make_float4(alpha * x[0], alpha * x[1], alpha * x[2], alpha * x[3]));
#else
#pragma unroll
  for (int e = 0; e < 4; ++e) atomicAdd(to + e, alpha * x[e]);
#endif
}

}  // namespace sptile::runtime::cuda
