// Groups of asynchronous copies of an emulated block's lanes (see tile_pipe.cuh).
#pragma once

#include "runtime/cuda/tile_pipe.cuh"
#include "tests/runtime/cuda/emulated_block.hpp"

namespace sptile::test {

/// What the lanes have on their way. A kernel must be right when a copy happens as late as it may, and when
/// it happens at once.
struct EmulatedCopies {
  struct Copy {
    std::uint32_t to;
    const void* from;
    std::uint32_t bytes, there;

    void perform() const {
      std::array<std::byte, 16> piece{};
      std::memcpy(piece.data(), from, there);
      emulated_block.misaligned =
          emulated_block.misaligned || reinterpret_cast<std::uintptr_t>(from) % bytes != 0 || to % bytes != 0;
      std::memcpy(emulated_block.memory.data() + emulated_block.check(to, bytes), piece.data(), bytes);
    }
  };
  using Group = std::vector<Copy>;
  std::map<unsigned, std::vector<Group>> groups;  ///< of each thread; the last one is open
  unsigned block = 0;                             ///< whose they are
  bool late = true;

  std::vector<Group>& mine() {
    if (std::exchange(block, emulated_block.blocks) != emulated_block.blocks) groups.clear();
    std::vector<Group>& groups_of_thread = groups[thread_index.x];
    if (groups_of_thread.empty()) groups_of_thread.emplace_back();
    return groups_of_thread;
  }
  void add(const Copy& copy) {
    if (late)
      mine().back().push_back(copy);
    else
      copy.perform();
  }
  void wait(std::size_t pending) {
    std::vector<Group>& all = mine();
    while (all.size() > pending + 1) {
      for (const Copy& copy : all.front()) copy.perform();
      all.erase(all.begin());
    }
  }
};
inline EmulatedCopies emulated_copies;

}  // namespace sptile::test

namespace sptile::runtime::cuda {

template <int kBytes>
void copy_if(bool wanted, std::uint32_t to, const void* from) {
  if (wanted) test::emulated_copies.add({to, from, kBytes, kBytes});
}
inline void copy_16_of(int there, std::uint32_t to, const void* from) {
  if (there > 0) test::emulated_copies.add({to, from, 16, static_cast<std::uint32_t>(std::min(there, 16))});
}
inline void copy_commit() { test::emulated_copies.mine().emplace_back(); }
template <int kPending>
void copy_wait() {
  test::emulated_copies.wait(kPending);
}
inline void warp_sync() { test::EmulatedWarp::current().exchange({}); }

}  // namespace sptile::runtime::cuda
