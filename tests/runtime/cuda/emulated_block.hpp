// Shared memory, barriers and asynchronous copies of an emulated block (see emulated_device.hpp). Copies
// happen as late as the PTX ISA allows: when somebody waits for them, not when they are started.
#pragma once

#include <map>

#include "runtime/cuda/bulk_pipe.cuh"
#include "tests/runtime/cuda/emulated_device.hpp"

namespace sptile::test {

struct EmulatedBlock {
  struct Barrier {
    unsigned arrivals = 0, pending = 0, phase = 0;
    std::int64_t bytes = 0;  ///< of bulk copies that the phase waits for

    void settle() {
      if (pending > 0 || bytes != 0) return;
      pending = arrivals;
      phase ^= 1u;
    }
  };
  struct Copy {
    std::uint32_t to;
    const void* from;
    std::uint32_t bytes;
  };

  std::vector<std::byte> memory;
  std::map<std::uint32_t, Barrier> barriers;
  std::map<unsigned, std::vector<Copy>> copies;            ///< started by each thread
  std::map<std::uint32_t, std::vector<Copy>> bulk_copies;  ///< counted at each barrier
  unsigned at_block_barrier = 0, block_barriers = 0;
  unsigned blocks = 0;  ///< that have begun
  bool misaligned = false;

  void clear(std::size_t shared_bytes) {
    memory.assign(shared_bytes, std::byte{0xFF});
    barriers.clear();
    copies.clear();
    bulk_copies.clear();
    at_block_barrier = 0;
    ++blocks;
  }
  void perform(const Copy& copy) {
    misaligned = misaligned || copy.to % std::min(copy.bytes, 16u) != 0 ||
                 reinterpret_cast<std::uintptr_t>(copy.from) % std::min(copy.bytes, 16u) != 0;
    std::memcpy(memory.data() + check(copy.to, copy.bytes), copy.from, copy.bytes);
  }
  /// Performs the bulk copies that only a barrier's phase still waits for.
  void perform_bulk(std::uint32_t barrier) {
    Barrier& b = barriers.at(barrier);
    if (b.pending > 0) return;
    for (const Copy& copy : bulk_copies[barrier]) {
      perform(copy);
      b.bytes -= copy.bytes;
      misaligned = misaligned || copy.bytes % 16 != 0 || copy.bytes == 0;
    }
    bulk_copies[barrier].clear();
    b.settle();
  }
  [[nodiscard]] std::uint32_t check(std::uint32_t at, std::size_t bytes) const {
    if (at + bytes > memory.size()) throw std::out_of_range("shared memory");
    return at;
  }
  template <class T>
  [[nodiscard]] T read(std::uint32_t at) {
    misaligned = misaligned || at % sizeof(T) != 0;
    T x;
    std::memcpy(&x, memory.data() + check(at, sizeof x), sizeof x);
    return x;
  }
};
inline EmulatedBlock emulated_block;

}  // namespace sptile::test

inline void __syncwarp() { sptile::test::EmulatedWarp::current().exchange({}); }
inline void __syncthreads() {
  auto& block = sptile::test::emulated_block;
  const unsigned generation = block.block_barriers;
  if (++block.at_block_barrier == sptile::test::block_size.x) {
    block.at_block_barrier = 0;
    ++block.block_barriers;
  }
  while (block.block_barriers == generation) sptile::test::EmulatedWarp::current().yield();
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline unsigned atomicAdd(unsigned* to, unsigned x) { return std::exchange(*to, *to + x); }
inline float atomicAdd(float* to, float x) { return std::exchange(*to, *to + x); }
template <class T>
T __ldcg(const T* from) {
  return *from;
}

namespace sptile::runtime::cuda {

inline std::uint32_t dynamic_shared() { return 0; }
inline unsigned count_up(unsigned* count) { return (*count)++; }
inline void barrier_init(std::uint32_t barrier, unsigned arrivals) {
  test::emulated_block.barriers[barrier] = {arrivals, arrivals, 0, 0};
}
inline void barrier_arrive(std::uint32_t barrier) {
  auto& b = test::emulated_block.barriers.at(barrier);
  --b.pending;
  b.settle();
}
inline void copy_wait_all() {
  auto& mine = test::emulated_block.copies[test::thread_index.x];
  for (const auto& copy : mine) test::emulated_block.perform(copy);
  mine.clear();
}
inline void barrier_arrive_copied(std::uint32_t barrier) {
  copy_wait_all();
  barrier_arrive(barrier);
}
inline void barrier_wait(std::uint32_t barrier, unsigned parity) {
  auto& block = test::emulated_block;
  while (block.barriers.at(barrier).phase == parity) {
    block.perform_bulk(barrier);
    if (block.barriers.at(barrier).phase == parity) test::EmulatedWarp::current().yield();
  }
}
inline void barrier_arrive_expect(std::uint32_t barrier, unsigned bytes) {
  auto& b = test::emulated_block.barriers.at(barrier);
  b.bytes += bytes;
  --b.pending;
  b.settle();
}
inline void copy_bulk(std::uint32_t to, const void* from, unsigned bytes, std::uint32_t barrier) {
  test::emulated_block.bulk_copies[barrier].push_back({to, from, bytes});
}
inline void fence_bulk() {}
inline void copy_16(std::uint32_t to, const void* from) {
  test::emulated_block.copies[test::thread_index.x].push_back({to, from, 16});
}
template <int kBytes>
void copy_element(std::uint32_t to, const void* from) {
  test::emulated_block.copies[test::thread_index.x].push_back({to, from, kBytes});
}
inline void store_pair(std::uint32_t to, uint2 x) { test::emulated_block.perform({to, &x, 8}); }
inline void store_piece_16(std::uint32_t to, uint4 x) { test::emulated_block.perform({to, &x, 16}); }
inline void store_half(std::uint32_t to, unsigned short x) { test::emulated_block.perform({to, &x, 2}); }
inline std::uint32_t shared_word(std::uint32_t at) { return test::emulated_block.read<std::uint32_t>(at); }
inline uint2 shared_pair(std::uint32_t at) { return test::emulated_block.read<uint2>(at); }
inline uint4 shared_piece(std::uint32_t at) { return test::emulated_block.read<uint4>(at); }
inline std::uint32_t shared_half(std::uint32_t at) { return test::emulated_block.read<std::uint16_t>(at); }

template <auto kKernel>
int blocks_per_sm(int) {
  return 8;
}
inline void admit_next_kernel() {}
inline void await_previous_kernel() {}
inline void follow_previous_kernel() {}
template <auto kKernel, class... Args>
int start_kernel(const LaunchShape& shape, const DeviceInfo&, cudaStream_t, const Args&... args) {
  test::launch(
      shape.blocks, shape.threads, [&] { kKernel(args...); },
      [&] { test::emulated_block.clear(shape.shared_bytes); });
  return 0;
}

}  // namespace sptile::runtime::cuda
