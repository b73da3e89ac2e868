// Shared memory, barriers and asynchronous copies of an emulated block (see emulated_device.hpp). Copies
// happen as late as the PTX ISA allows: when somebody waits for them, not when they are started.
#pragma once

#include <map>

#include "runtime/cuda/papers/bulk/pipe.cuh"
#include "runtime/cuda/tile/pipe.cuh"
#include "tests/runtime/cuda/emulated_device.hpp"

namespace sptile::test {

struct EmulatedBlock {
  struct Barrier {
    unsigned arrivals = 0, pending = 0, phase = 0;
    std::int64_t bytes = 0;  ///< of bulk copies that the phase waits for

    void settle();
  };
  struct Copy {
    std::uint32_t to;
    const void* from;
    std::uint32_t bytes;
    std::uint32_t there = bytes;  ///< of `from`; the others become zero
  };
  using Group = std::vector<Copy>;

  std::vector<std::byte> memory;
  std::map<std::uint32_t, Barrier> barriers;
  std::map<unsigned, Group> copies;               ///< started by each thread
  std::map<unsigned, std::vector<Group>> groups;  ///< the same, of copies in groups; the last one is open
  std::map<std::uint32_t, Group> bulk_copies;     ///< counted at each barrier
  unsigned at_block_barrier = 0, block_barriers = 0;
  bool misaligned = false;
  /// A kernel must be right when copies in groups happen as late as they may, and when they happen at once.
  bool late = true;

  void clear(std::size_t shared_bytes);
  void perform(const Copy& copy);
  /// Performs the bulk copies that only a barrier's phase still waits for.
  void perform_bulk(std::uint32_t barrier);
  void add_to_group(const Copy& copy);
  [[nodiscard]] std::vector<Group>& groups_of_thread();
  /// Performs all but the last `pending` groups of the thread.
  void wait_for_groups(std::size_t pending);
  template <class T>
  [[nodiscard]] T read(std::uint32_t at);
  [[nodiscard]] std::byte* place(std::uint32_t at, std::size_t bytes);
};
inline EmulatedBlock emulated_block;

}  // namespace sptile::test

void __syncwarp();
void __syncthreads();
inline void __threadfence() {}
inline void __threadfence_block() {}
inline unsigned atomicAdd(unsigned* to, unsigned x) { return std::exchange(*to, *to + x); }
inline float atomicAdd(float* to, float x) { return std::exchange(*to, *to + x); }

namespace sptile::runtime::cuda {

template <class T>
T* dynamic_shared_at(std::uint32_t offset) {
  return reinterpret_cast<T*>(test::emulated_block.place(offset, sizeof(T)));
}
template <int kBytes>
void copy_element(std::uint32_t to, const void* from) {
  test::emulated_block.copies[test::thread_index.x].push_back({to, from, kBytes});
}
template <int kBytes>
void copy_if(bool wanted, std::uint32_t to, const void* from) {
  if (wanted) test::emulated_block.add_to_group({to, from, kBytes});
}
template <int kPending>
void copy_wait() {
  test::emulated_block.wait_for_groups(kPending);
}

template <auto kKernel>
int blocks_per_sm(int) {
  return 8;
}
template <auto kKernel, class... Args>
int start_kernel(const LaunchShape& shape, const DeviceInfo&, cudaStream_t, const Args&... args) {
  test::launch(
      shape.blocks, shape.threads, [&] { kKernel(args...); },
      [&] { test::emulated_block.clear(shape.shared_bytes); });
  return 0;
}

}  // namespace sptile::runtime::cuda
