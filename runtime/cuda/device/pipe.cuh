// Barriers and asynchronous copies of a staged pipeline (PTX ISA: mbarrier, cp.async). As in
// ptx.cuh, other compilers than nvcc see declarations.
#pragma once

#include <vector_types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sptile::runtime::cuda {

#ifdef __CUDACC__

__device__ __forceinline__ void barrier_init(std::uint32_t barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void barrier_arrive(std::uint32_t barrier) {
  asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(barrier) : "memory");
}

/// Arrives when all copies that this thread has started are done.
__device__ __forceinline__ void barrier_arrive_copied(std::uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

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

/// Waits until the phase of this parity is over.
__device__ __forceinline__ void barrier_wait(std::uint32_t barrier, unsigned parity) {
  while (!barrier_done(barrier, parity)) {
  }
}

/// Waits for kThreads threads of the block, whole warps that all come here; kBarrier is 1 to 15.
template <int kBarrier, int kThreads>
__device__ __forceinline__ void group_sync() {
  asm volatile("bar.sync %0, %1;" ::"n"(kBarrier), "n"(kThreads) : "memory");
}

/// Copies 16 bytes past the first cache; both addresses are multiples of 16.
__device__ __forceinline__ void copy_16(std::uint32_t to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

/// Copies an element of 4 or 8 bytes.
template <int kBytes>
__device__ __forceinline__ void copy_element(std::uint32_t to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(kBytes) : "memory");
}

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

__device__ __forceinline__ void copy_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Reads of shared memory by address. They stand in the order of the barriers around them (volatile), and cost
// no conversion of pointers.
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

#else

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

#endif

/// An element of 2, 4, 8 or 16 bytes of shared memory if it is wanted, else 0.
template <class T>
__device__ __forceinline__ T shared_element_if(std::uint32_t at, bool wanted) {
  T x{};
  if constexpr (sizeof(T) == 2) {
    const auto bits = static_cast<std::uint16_t>(wanted ? shared_half(at) : 0u);
    std::memcpy(static_cast<void*>(&x), &bits, sizeof x);
  } else if constexpr (sizeof(T) == 4) {
    const std::uint32_t bits = wanted ? shared_word(at) : 0u;
    std::memcpy(&x, &bits, sizeof x);
  } else if constexpr (sizeof(T) == 8) {
    const uint2 bits = wanted ? shared_pair(at) : uint2{0u, 0u};
    std::memcpy(&x, &bits, sizeof x);
  } else {
    const uint4 bits = wanted ? shared_piece(at) : uint4{0u, 0u, 0u, 0u};
    std::memcpy(&x, &bits, sizeof x);
  }
  return x;
}

/// Goes round the stages; the phase of the barriers turns each time.
struct StageCursor {
  int stage = 0;
  unsigned phase = 0;

  __device__ __forceinline__ void advance(int stages, int steps = 1) {
    stage += steps;
    while (stage >= stages) {
      stage -= stages;
      phase ^= 1u;
    }
  }
};

}  // namespace sptile::runtime::cuda
