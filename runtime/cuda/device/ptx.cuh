// PTX instructions without a counterpart in CUDA C++: all inline assembly of the kernels, except for
// dependent launches (start_kernel.cuh). Compilers other than nvcc see declarations, which the host emulation
// of the tests defines. Addresses of shared memory are 32-bit addresses of the shared state space, in bytes.
#pragma once

#include <vector_types.h>

#include <cstdint>
#include <type_traits>

#include "formats/core/half.hpp"

namespace sptile::runtime::cuda {

#ifdef __CUDACC__

/// Rounds to the nearest tf32 number. The tensor core ignores the low 13 bits, which truncates unless the
/// operand is rounded first. Infinity and NaN are unchanged; finite numbers from 0x1.ffep+127 on become
/// infinity.
__device__ __forceinline__ std::uint32_t to_tf32(float x) {
#if __CUDA_ARCH__ >= 900
  std::uint32_t bits;
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
#else  // cvt.rna takes one more instruction
  std::uint32_t bits = __float_as_uint(x);
  if (fabsf(x) < __int_as_float(0x7f800000)) bits += 0x1000u;
#endif
  return bits;
}

/// m16n8k8, fragments as in collective/lanes.hpp: acc[0..3] are results (g, 2t), (g, 2t + 1), (g + 8, 2t) and
/// (g + 8, 2t + 1) of lane 4 * g + t; a[0..3] are (g, t), (g + 8, t), (g, t + 4) and (g + 8, t + 4).
__device__ __forceinline__ void mma_tf32(float (&acc)[4], const std::uint32_t (&a)[4],
                                         const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// m16n8k8 with results as in mma_tf32. A word of an operand has k = 2t in its low half and k = 2t + 1 in its
/// high half.
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

/// m16n8k16 in f16: a[0..1] and b[0] have k = 2t and 2t + 1, a[2..3] and b[1] k = 2t + 8 and 2t + 9.
__device__ __forceinline__ void mma_half_k16(float (&acc)[4], const std::uint32_t (&a)[4],
                                             const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// m8n8k4: acc[0..1] are results (g, 2t) and (g, 2t + 1); a is (g, t), b is (t, g).
__device__ __forceinline__ void mma_f64(double (&acc)[2], double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
      : "+d"(acc[0]), "+d"(acc[1])
      : "d"(a), "d"(b));
}

/// Adds 1 to a counter in global memory and returns its old value: a release at device scope, see split.cuh.
/// Unlike __threadfence() it does not invalidate L1.
__device__ __forceinline__ unsigned count_up(unsigned* count) {
  unsigned before;
  asm volatile("atom.add.release.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(count) : "memory");
  return before;
}

/// Prevents the compiler from recomputing a loop invariant in each iteration.
template <class T>
__device__ __forceinline__ void keep(T& x) {
  if constexpr (sizeof(T) == 8)
    asm volatile("" : "+l"(x));
  else
    asm volatile("" : "+r"(x));
}

/// Loads elements that the multiprocessor does not read again, without allocating a line in L1.
__device__ __forceinline__ std::int32_t load_once(const std::int32_t* p) {
  std::int32_t x;
  asm("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(x) : "l"(p));
  return x;
}
__device__ __forceinline__ uint4 load_once(const uint4* p) {
  uint4 x;
  asm("ld.global.nc.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
      : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
      : "l"(p));
  return x;
}
template <class T>
__device__ __forceinline__ T load_once(const T* p) {
  return __ldcs(p);
}

// mbarrier objects: 8 bytes of shared memory, multiples of 8.

/// Initializes a barrier whose phases complete after `arrivals` arrivals.
__device__ __forceinline__ void barrier_init(std::uint32_t barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// Arrives at a barrier; a release for the block.
__device__ __forceinline__ void barrier_arrive(std::uint32_t barrier) {
  asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(barrier) : "memory");
}

/// Arrives once all cp.async copies that this thread has started are complete.
__device__ __forceinline__ void barrier_arrive_copied(std::uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

/// Returns whether the phase of this parity is complete; an acquire for the block if so.
__device__ __forceinline__ bool barrier_done(std::uint32_t barrier, unsigned parity) {
  std::uint32_t done;
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(done)
               : "r"(barrier), "r"(parity)
               : "memory");
#else
  asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(done)
               : "r"(barrier), "r"(parity)
               : "memory");
#endif
  return done != 0;
}

/// Waits until the phase of this parity is complete.
__device__ __forceinline__ void barrier_wait(std::uint32_t barrier, unsigned parity) {
  while (!barrier_done(barrier, parity)) {
  }
}

/// Synchronizes kThreads threads of the block, all threads of their warps, at barrier kBarrier (1 to 15).
template <int kBarrier, int kThreads>
__device__ __forceinline__ void group_sync() {
  asm volatile("bar.sync %0, %1;" ::"n"(kBarrier), "n"(kThreads) : "memory");
}

// Asynchronous copies from global to shared memory (cp.async). Both addresses are multiples of the size.

/// Starts to copy 16 bytes through L2 alone.
__device__ __forceinline__ void copy_16(std::uint32_t to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

/// Starts to copy 4, 8 or 16 bytes through L1.
template <int kBytes>
__device__ __forceinline__ void copy_element(std::uint32_t to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(kBytes) : "memory");
}

/// Starts to copy 4, 8 or 16 bytes through L1 if `there`: a predicated instruction rather than a branch.
template <int kBytes>
__device__ __forceinline__ void copy_if(bool there, std::uint32_t to, const void* from) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.u32 p, %3, 0;\n@p cp.async.ca.shared.global [%0], [%1], %2;\n}" ::"r"(to),
      "l"(from), "n"(kBytes), "r"(static_cast<std::uint32_t>(there))
      : "memory");
}

/// Closes the group of copies that this thread has started since the previous group.
__device__ __forceinline__ void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until all but the last kPending groups of this thread are complete.
template <int kPending>
__device__ __forceinline__ void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// Waits for all cp.async copies of this thread.
__device__ __forceinline__ void copy_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Loads and stores of shared memory by address. They are volatile, which keeps their order relative to
// barriers, and need no conversion of pointers.

__device__ __forceinline__ void store_half(std::uint32_t to, unsigned short x) {
  asm volatile("st.shared.b16 [%0], %1;" ::"r"(to), "h"(x) : "memory");
}

__device__ __forceinline__ void store_word(std::uint32_t to, std::uint32_t x) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(x) : "memory");
}
__device__ __forceinline__ void store_pair(std::uint32_t to, uint2 x) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(x.x), "r"(x.y) : "memory");
}
__device__ __forceinline__ void store_piece_16(std::uint32_t to, uint4 x) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w)
               : "memory");
}

__device__ __forceinline__ std::uint32_t shared_word(std::uint32_t at) {
  std::uint32_t x;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(at));
  return x;
}
__device__ __forceinline__ uint2 shared_pair(std::uint32_t at) {
  uint2 x;
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(x.x), "=r"(x.y) : "r"(at));
  return x;
}
__device__ __forceinline__ uint4 shared_piece(std::uint32_t at) {
  uint4 x;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "r"(at));
  return x;
}
__device__ __forceinline__ std::uint32_t shared_half(std::uint32_t at) {
  unsigned short x;
  asm volatile("ld.shared.b16 %0, [%1];" : "=h"(x) : "r"(at));
  return x;
}

// Bulk copies (cp.async.bulk): compute capability 9.0 and later; empty on earlier devices, which must not run
// them.

/// Arrives at a barrier and adds `bytes` of bulk copies to those that its phase waits for.
__device__ __forceinline__ void barrier_arrive_expect(std::uint32_t barrier, unsigned bytes) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.expect_tx.shared.b64 state, [%0], %1;\n}" ::"r"(barrier),
               "r"(bytes)
               : "memory");
#endif
}

/// Starts to copy `bytes`, which are counted at the barrier on completion. `bytes` and both addresses are
/// multiples of 16.
__device__ __forceinline__ void copy_bulk(std::uint32_t to, const void* from, unsigned bytes,
                                          std::uint32_t barrier) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
      : "memory");
#endif
}

/// Orders this thread's accesses to shared memory before later ones of bulk copies and wgmma.
__device__ __forceinline__ void fence_async() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

// Warpgroup instructions (setmaxnreg, wgmma): compute capability 9.0 alone, machine code for sm_90a.

/// Releases registers of a warpgroup, whose threads keep kCount each, a multiple of 8.
template <int kCount>
__device__ __forceinline__ void warpgroup_leave_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}
/// Waits for released registers, until the threads of a warpgroup have kCount each, a multiple of 8.
template <int kCount>
__device__ __forceinline__ void warpgroup_take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}

/// Orders writes of operands and sums in registers before the products that follow.
__device__ __forceinline__ void warpgroup_arrive() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/// Closes the group of products that the warpgroup has started since the previous group.
__device__ __forceinline__ void warpgroup_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits for all groups: sums are valid and operands may be overwritten.
__device__ __forceinline__ void warpgroup_wait() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

#define SPTILE_SUM(i) "+f"(sum(i, 0)), "+f"(sum(i, 1)), "+f"(sum(i, 2)), "+f"(sum(i, 3))
#define SPTILE_SUMS_8(i)                                                                     \
  SPTILE_SUM(i), SPTILE_SUM(i + 1), SPTILE_SUM(i + 2), SPTILE_SUM(i + 3), SPTILE_SUM(i + 4), \
      SPTILE_SUM(i + 5), SPTILE_SUM(i + 6), SPTILE_SUM(i + 7)

/// Starts a product of 64 rows by 8 * kTiles columns with k = 8. Each warp has 16 of the rows: `a` as in
/// mma_tf32, sum(i, 0..3) as acc there for columns 8i to 8i + 7. `operand` describes k in shared memory
/// (warpgroup_operand).
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

#define SPTILE_TEN(d) \
  "%" #d "0,%" #d "1,%" #d "2,%" #d "3,%" #d "4,%" #d "5,%" #d "6,%" #d "7,%" #d "8,%" #d "9,"
#define SPTILE_TENS_20 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9," SPTILE_TEN(1)
#define SPTILE_TENS_60 SPTILE_TENS_20 SPTILE_TEN(2) SPTILE_TEN(3) SPTILE_TEN(4) SPTILE_TEN(5)
#define SPTILE_NAMES_32 SPTILE_TENS_20 SPTILE_TEN(2) "%30,%31"
#define SPTILE_NAMES_64 SPTILE_TENS_60 "%60,%61,%62,%63"
#define SPTILE_WARPGROUP_HALF(type, columns, names, operands, ...)                               \
  asm volatile("{.reg .pred p;\nsetp.ne.b32 p, 1, 0;\nwgmma.mma_async.sync.aligned.m64n" columns \
               "k16.f32." type "." type " {" names "}, " operands ", p, 1, 1, 0, 1;}"            \
               : __VA_ARGS__                                                                     \
               : "l"(tiles), "l"(rows))

/// Starts a product of 64 rows by 8 * kTiles columns with k = 16, of 16-bit numbers. Both operands are in
/// shared memory: `tiles` is described by warpgroup_operand, `rows` by warpgroup_rows. Each warp has 16 of
/// the rows of the result: sum(i, 0..3) as acc in mma_tf32 for columns 8i to 8i + 7.
template <int kTiles, class T, class Sum>
__device__ __forceinline__ void warpgroup_half(const Sum& sum, std::uint64_t tiles, std::uint64_t rows) {
  static_assert(kTiles == 8 || kTiles == 16);
  constexpr bool kHalf = std::is_same_v<T, Half>;
  if constexpr (kTiles == 8 && kHalf)
    SPTILE_WARPGROUP_HALF("f16", "64", SPTILE_NAMES_32, "%32, %33", SPTILE_SUMS_8(0));
  else if constexpr (kTiles == 8)
    SPTILE_WARPGROUP_HALF("bf16", "64", SPTILE_NAMES_32, "%32, %33", SPTILE_SUMS_8(0));
  else if constexpr (kTiles == 16 && kHalf)
    SPTILE_WARPGROUP_HALF("f16", "128", SPTILE_NAMES_64, "%64, %65", SPTILE_SUMS_8(0), SPTILE_SUMS_8(8));
  else
    SPTILE_WARPGROUP_HALF("bf16", "128", SPTILE_NAMES_64, "%64, %65", SPTILE_SUMS_8(0), SPTILE_SUMS_8(8));
}

#undef SPTILE_WARPGROUP_HALF
#undef SPTILE_NAMES_64
#undef SPTILE_NAMES_32
#undef SPTILE_TENS_60
#undef SPTILE_TENS_20
#undef SPTILE_TEN
#undef SPTILE_SUMS_8
#undef SPTILE_SUM

#else

std::uint32_t to_tf32(float x);
void mma_tf32(float (&acc)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]);
void mma_half(float (&acc)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t b, Half);
void mma_half(float (&acc)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t b, BFloat16);
void mma_half_k16(float (&acc)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]);
void mma_f64(double (&acc)[2], double a, double b);
unsigned count_up(unsigned* count);
template <class T>
void keep(T&) {}
template <class T>
T load_once(const T* p) {
  return *p;
}
void barrier_init(std::uint32_t barrier, unsigned arrivals);
void barrier_arrive(std::uint32_t barrier);
void barrier_arrive_copied(std::uint32_t barrier);
void barrier_wait(std::uint32_t barrier, unsigned parity);
template <int kBarrier, int kThreads>
void group_sync();
void copy_16(std::uint32_t to, const void* from);
template <int kBytes>
void copy_element(std::uint32_t to, const void* from);
void store_half(std::uint32_t to, unsigned short x);
void store_word(std::uint32_t to, std::uint32_t x);
void store_pair(std::uint32_t to, uint2 x);
void store_piece_16(std::uint32_t to, uint4 x);
void copy_wait_all();
std::uint32_t shared_word(std::uint32_t at);
uint2 shared_pair(std::uint32_t at);
uint4 shared_piece(std::uint32_t at);
std::uint32_t shared_half(std::uint32_t at);
template <int kBytes>
void copy_if(bool there, std::uint32_t to, const void* from);
void copy_commit();
template <int kPending>
void copy_wait();
void barrier_arrive_expect(std::uint32_t barrier, unsigned bytes);
void copy_bulk(std::uint32_t to, const void* from, unsigned bytes, std::uint32_t barrier);
void fence_async();
template <int kCount>
void warpgroup_leave_registers() {}
template <int kCount>
void warpgroup_take_registers() {}
void warpgroup_arrive();
void warpgroup_commit();
void warpgroup_wait();
template <int kTiles, class Sum>
void warpgroup_tf32(const Sum& sum, const std::uint32_t (&a)[4], std::uint64_t operand);
template <int kTiles, class T, class Sum>
void warpgroup_half(const Sum& sum, std::uint64_t tiles, std::uint64_t rows);

#endif

}  // namespace sptile::runtime::cuda
