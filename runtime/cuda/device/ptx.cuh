// The instructions that CUDA C++ has no word for. Every line of PTX of the tile and csr kernels is here;
// other compilers than nvcc see declarations, so that a test can supply functions that do the same for a warp
// emulated on the host.
#pragma once

#include <cstdint>

#include "formats/core/half.hpp"

namespace sptile::runtime::cuda {

#ifdef __CUDACC__

/// Rounds to the nearest number that tf32 holds; the tensor core drops the low 13 bits, and alone would
/// truncate. Infinity and NaN stay what they are; finite numbers from 0x1.ffep+127 on become infinity.
__device__ __forceinline__ std::uint32_t to_tf32(float x) {
#if __CUDA_ARCH__ >= 900
  std::uint32_t bits;
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
#else  // cvt.rna takes an instruction more
  std::uint32_t bits = __float_as_uint(x);
  if (fabsf(x) < __int_as_float(0x7f800000)) bits += 0x1000u;
#endif
  return bits;
}

/// acc[0..3] are results (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
__device__ __forceinline__ void mma_tf32(float (&acc)[4], const std::uint32_t (&a)[4],
                                         const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Results as in mma_tf32; each word of the operands has the lane's two k.
__device__ __forceinline__ void mma_half(float (&acc)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t b,
                                         Half) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
      : "r"(a0), "r"(a1), "r"(b));
}
__device__ __forceinline__ void mma_half(float (&acc)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t b,
                                         BFloat16) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
      : "r"(a0), "r"(a1), "r"(b));
}

/// m8n8k4: acc[0..1] are results (g, 2t), (g, 2t + 1).
__device__ __forceinline__ void mma_f64(double (&acc)[2], double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
      : "+d"(acc[0]), "+d"(acc[1])
      : "d"(a), "d"(b));
}

/// Adds 1 to a counter in global memory and returns its old value: a release at device scope, see split.cuh.
/// Unlike __threadfence() it leaves L1 as it is.
__device__ __forceinline__ unsigned count_up(unsigned* count) {
  unsigned before;
  asm volatile("atom.add.release.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(count) : "memory");
  return before;
}

/// Keeps the compiler from computing a loop invariant anew in each round.
template <class T>
__device__ __forceinline__ void keep(T& x) {
  if constexpr (sizeof(T) == 8)
    asm volatile("" : "+l"(x));
  else
    asm volatile("" : "+r"(x));
}

/// Reads what nobody on the multiprocessor needs again: it takes no place in the first cache.
__device__ __forceinline__ std::int32_t load_once(const std::int32_t* p) {
  std::int32_t x;
  asm("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(x) : "l"(p));
  return x;
}
template <class T>
__device__ __forceinline__ T load_once(const T* p) {
  return __ldcs(p);
}

#else

std::uint32_t to_tf32(float x);
void mma_tf32(float (&acc)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]);
void mma_half(float (&acc)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t b, Half);
void mma_half(float (&acc)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t b, BFloat16);
void mma_f64(double (&acc)[2], double a, double b);
unsigned count_up(unsigned* count);
template <class T>
void keep(T&) {}
template <class T>
T load_once(const T* p) {
  return *p;
}

#endif

}  // namespace sptile::runtime::cuda
