// Shared memory, barriers and asynchronous copies of an emulated block (see emulated_device.hpp). Copies are
// performed as late as the PTX ISA permits: when a thread waits for them, not when they start.
#pragma once

#include <map>
#include <stdexcept>

#include "tests/runtime/cuda/emulated_device.hpp"  // intrinsics that the headers below call

#include "runtime/cuda/collective/block.cuh"
#include "runtime/cuda/collective/mma.cuh"

namespace sptile::test {

struct EmulatedBlock {
  static constexpr std::uint32_t kBegin = 1024;  ///< start of the dynamic shared memory, as on a device

  struct Barrier {
    unsigned arrivals = 0, pending = 0, phase = 0;
    std::int64_t bytes = 0;  ///< bytes of bulk copies for which the phase waits

    void settle();
  };
  struct Copy {
    std::uint32_t to;
    const void* from;
    std::uint32_t bytes;
    std::uint32_t there = bytes;  ///< valid bytes of `from`; the others become zero
  };
  using Group = std::vector<Copy>;

  std::vector<std::byte> memory;
  std::map<std::uint32_t, Barrier> barriers;
  std::map<unsigned, Group> copies;               ///< started by each thread
  std::map<unsigned, std::vector<Group>> groups;  ///< of copies in groups; the last group is open
  std::map<std::uint32_t, Group> bulk_copies;     ///< counted at each barrier
  /// Threads that wait together, and the number of completed waits.
  struct Meeting {
    std::vector<unsigned> here;
    unsigned times = 0;

    void synchronize(unsigned threads);
  };
  Meeting block_meeting, group_meetings[16];
  bool misaligned = false;
  /// Performs copies in groups as late as possible if true, immediately if false. A kernel must be correct in
  /// both cases.
  bool late = true;

  void clear(std::size_t shared_bytes);
  void perform(const Copy& copy);
  /// Performs the bulk copies for which only a barrier's phase waits.
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

inline void __threadfence() { sptile::test::memory_order.fence(); }
inline void __threadfence_block() {}
inline unsigned atomicAdd(unsigned* to, unsigned x) { return std::exchange(*to, *to + x); }
inline float atomicAdd(float* to, float x) { return std::exchange(*to, *to + x); }

namespace sptile::runtime::cuda {

template <class T>
T* dynamic_shared_at(std::uint32_t offset) {
  return reinterpret_cast<T*>(test::emulated_block.place(test::EmulatedBlock::kBegin + offset, sizeof(T)));
}
template <int kBarrier, int kThreads>
void group_sync() {
  test::emulated_block.group_meetings[kBarrier].synchronize(kThreads);
}
template <int kBytes>
void copy_element(std::uint32_t to, const void* from) {
  test::emulated_block.copies[test::thread_index.x].push_back({to, from, kBytes});
}
template <int kBytes>
void copy_if(bool there, std::uint32_t to, const void* from) {
  if (there) test::emulated_block.add_to_group({to, from, kBytes});
}
template <int kPending>
void copy_wait() {
  test::emulated_block.wait_for_groups(kPending);
}

template <int kTiles, class Sum>
void warpgroup_tf32(const Sum& sum, const std::uint32_t (&a)[4], std::uint64_t operand) {
  const auto at = [&](int shift) { return static_cast<std::uint32_t>(operand >> shift & 0x3fffu) << 4; };
  const std::uint32_t tiles = at(0), along_k = at(16), along_n = at(32);
  const auto lane = static_cast<std::uint32_t>(test::EmulatedWarp::current().lane());
  for (std::uint32_t i = 0; i < kTiles; ++i) {
    std::uint32_t b[2];
    for (std::uint32_t k = 0; k < 2; ++k)
      b[k] = shared_word(tiles + i * along_n + k * along_k + lane / 4 * 16 + lane % 4 * 4);
    float acc[4];
    for (int r = 0; r < 4; ++r) acc[r] = sum(static_cast<int>(i), r);
    mma_tf32(acc, a, b);
    for (int r = 0; r < 4; ++r) sum(static_cast<int>(i), r) = acc[r];
  }
}

/// Operands are read as the descriptors say: swizzling exchanges bits of addresses.
template <int kTiles, class T, class Sum>
void warpgroup_half(const Sum& sum, std::uint64_t tiles, std::uint64_t rows) {
  const auto part = [](std::uint64_t operand, int shift) {
    return static_cast<std::uint32_t>(operand >> shift & 0x3fffu) << 4;
  };
  const auto number = [](std::uint32_t at) { return widen(T{static_cast<std::uint16_t>(shared_half(at))}); };
  const auto thread = test::thread_index.x % (kWarpgroup * kWarpSize);
  const std::uint32_t row = thread / kWarpSize * 16 + thread % kWarpSize / 4, column = thread % 4 * 2;
  if (tiles >> 62 != 0 || rows >> 62 != 1 || part(rows, 0) % kSwizzledBytes != 0)
    throw std::invalid_argument("operand of wgmma");
  float a[2][16];
  for (std::uint32_t r = 0; r < 2; ++r)
    for (std::uint32_t k = 0; k < 16; ++k)
      a[r][k] = number(part(tiles, 0) + (row / 8 + r) * part(tiles, 32) + k / 8 * part(tiles, 16) +
                       row % 8 * 16 + k % 8 * 2);
  for (std::uint32_t n = 0; n < kTiles; ++n)
    for (std::uint32_t c = 0; c < 2; ++c) {
      const std::uint32_t feature = 8 * n + column + c;
      float b[16];
      for (std::uint32_t k = 0; k < 16; ++k) {
        const std::uint32_t at = part(rows, 0) + feature / 64 * part(rows, 16) + k / 8 * part(rows, 32) +
                                 k % 8 * 128 + feature % 64 * 2;
        b[k] = number(at ^ (at >> 7 & 7u) << 4);
      }
      for (std::uint32_t r = 0; r < 2; ++r) {
        float& to = sum(static_cast<int>(n), static_cast<int>(2 * r + c));
        for (std::uint32_t k = 0; k < 16; ++k) to += a[r][k] * b[k];
      }
    }
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
