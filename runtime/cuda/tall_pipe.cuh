// Barriers and asynchronous copies of a staged pipeline (PTX ISA: mbarrier, cp.async).
#pragma once

#include <cstddef>
#include <cstdint>

namespace sptile::runtime::cuda {

/// Address in shared memory as the copy instructions want it.
__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

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
/// An element of 2, 4 or 8 bytes if it is wanted, else 0.
template <class T>
__device__ __forceinline__ T shared_element_if(std::uint32_t at, bool wanted) {
  T x{};
  if constexpr (sizeof(T) == 2) {
    unsigned short bits = 0;
    if (wanted) asm volatile("ld.shared.b16 %0, [%1];" : "=h"(bits) : "r"(at));
    __builtin_memcpy(&x, &bits, sizeof x);
  } else if constexpr (sizeof(T) == 4) {
    std::uint32_t bits = 0;
    if (wanted) bits = shared_word(at);
    __builtin_memcpy(&x, &bits, sizeof x);
  } else {
    uint2 bits{};
    if (wanted) bits = shared_pair(at);
    __builtin_memcpy(&x, &bits, sizeof x);
  }
  return x;
}

/// Goes round the stages; the phase of the barriers turns each time.
struct StageCursor {
  int stage = 0;
  unsigned phase = 0;

  __device__ __forceinline__ void advance(int stages) {
    if (++stage == stages) {
      stage = 0;
      phase ^= 1u;
    }
  }
};

}  // namespace sptile::runtime::cuda
