// Products of a warpgroup, four warps from a multiple of four on (PTX ISA: wgmma; compute capability 9.0
// alone, machine code for sm_90a). As in ptx.cuh, other compilers than nvcc see declarations.
#pragma once

#include "runtime/cuda/device/pipe.cuh"
#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

inline constexpr int kWarpgroup = 4;  ///< warps

/// Whether code is compiled for a device that has them; nothing that needs them is launched on others.
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
inline constexpr bool kHasWarpgroups = false;
#else
inline constexpr bool kHasWarpgroups = true;
#endif

/// Operand in shared memory, 8 columns for each k: K-major core matrices of 8 rows of 16 bytes, without
/// swizzling. `along_k` and `along_n` are the bytes from one core matrix to the next.
SPTILE_HOST_DEVICE constexpr std::uint64_t warpgroup_operand(std::uint32_t at, std::uint32_t along_k,
                                                             std::uint32_t along_n) {
  return std::uint64_t{at >> 4} | std::uint64_t{along_k >> 4} << 16 | std::uint64_t{along_n >> 4} << 32;
}

#if defined(__CUDACC__)

/// A warpgroup leaves registers to others, or takes what others have left: a thread then has kCount, a
/// multiple of 8.
template <int kCount>
__device__ __forceinline__ void warpgroup_leave_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}
template <int kCount>
__device__ __forceinline__ void warpgroup_take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}

/// Stands between what writes operands or sums in registers and the products that follow.
__device__ __forceinline__ void warpgroup_arrive() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void warpgroup_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits for all products: sums are there, operands may be written.
__device__ __forceinline__ void warpgroup_wait() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

#define SPTILE_SUM(i) "+f"(sum(i, 0)), "+f"(sum(i, 1)), "+f"(sum(i, 2)), "+f"(sum(i, 3))
#define SPTILE_SUMS_8(i)                                                                     \
  SPTILE_SUM(i), SPTILE_SUM(i + 1), SPTILE_SUM(i + 2), SPTILE_SUM(i + 3), SPTILE_SUM(i + 4), \
      SPTILE_SUM(i + 5), SPTILE_SUM(i + 6), SPTILE_SUM(i + 7)

/// Starts 64 rows by 8 kTiles columns of products with k = 8. The warp has 16 of the rows: the operand `a` as
/// in mma_tf32, sum(i, 0..3) as there for columns 8i to 8i + 7.
template <int kTiles, class Sum>
__device__ __forceinline__ void warpgroup_tf32(const Sum& sum, const std::uint32_t (&a)[4],
                                               std::uint64_t operand) {
  static_assert(kTiles == 8 || kTiles == 16);
  if constexpr (kTiles == 8)
    asm volatile(
        "{.reg .pred p;\nsetp.ne.b32 p, 1, 0;\nwgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,"
        "%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, {%32,%33,%34,%35}, %36, "
        "p, "
        "1, 1;}"
        : SPTILE_SUMS_8(0)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(operand));
  else
    asm volatile(
        "{.reg .pred p;\nsetp.ne.b32 p, 1, 0;\nwgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,"
        "%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,"
        "%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}"
        ", {%64,%65,%66,%67}, %68, p, 1, 1;}"
        : SPTILE_SUMS_8(0), SPTILE_SUMS_8(8)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(operand));
}

#undef SPTILE_SUMS_8
#undef SPTILE_SUM

#else

template <int kCount>
void warpgroup_leave_registers() {}
template <int kCount>
void warpgroup_take_registers() {}
void warpgroup_arrive();
void warpgroup_commit();
void warpgroup_wait();
template <int kTiles, class Sum>
void warpgroup_tf32(const Sum& sum, const std::uint32_t (&a)[4], std::uint64_t operand);

#endif

}  // namespace sptile::runtime::cuda
