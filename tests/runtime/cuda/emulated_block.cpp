#include "tests/runtime/cuda/emulated_block.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sptile::test {

void EmulatedBlock::Barrier::settle() {
  if (pending > 0 || bytes != 0) return;
  pending = arrivals;
  phase ^= 1u;
}

void EmulatedBlock::clear(std::size_t shared_bytes) {
  memory.assign(shared_bytes, std::byte{0xFF});
  barriers.clear();
  copies.clear();
  groups.clear();
  bulk_copies.clear();
  block_meeting = {};
  std::ranges::fill(group_meetings, Meeting{});
}

std::byte* EmulatedBlock::place(std::uint32_t at, std::size_t bytes) {
  if (at < kBegin || at - kBegin + bytes > memory.size()) throw std::out_of_range("shared memory");
  return memory.data() + (at - kBegin);
}

void EmulatedBlock::perform(const Copy& copy) {
  const std::uint32_t unit = std::min(copy.bytes, 16u);
  misaligned = misaligned || copy.to % unit != 0 || reinterpret_cast<std::uintptr_t>(copy.from) % unit != 0;
  std::byte* const to = place(copy.to, copy.bytes);
  std::memcpy(to, copy.from, copy.there);
  std::memset(to + copy.there, 0, copy.bytes - copy.there);
}

void EmulatedBlock::perform_bulk(std::uint32_t barrier) {
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

std::vector<EmulatedBlock::Group>& EmulatedBlock::groups_of_thread() {
  std::vector<Group>& mine = groups[thread_index.x];
  if (mine.empty()) mine.emplace_back();
  return mine;
}

void EmulatedBlock::add_to_group(const Copy& copy) {
  if (late)
    groups_of_thread().back().push_back(copy);
  else
    perform(copy);
}

void EmulatedBlock::wait_for_groups(std::size_t pending) {
  std::vector<Group>& all = groups_of_thread();
  while (all.size() > pending + 1) {
    for (const Copy& copy : all.front()) perform(copy);
    all.erase(all.begin());
  }
}

template <class T>
T EmulatedBlock::read(std::uint32_t at) {
  misaligned = misaligned || at % sizeof(T) != 0;
  T x;
  std::memcpy(&x, place(at, sizeof x), sizeof x);
  return x;
}

void EmulatedBlock::Meeting::synchronize(unsigned threads) {
  const unsigned generation = times;
  here.push_back(thread_index.x);
  if (here.size() == threads) {
    memory_order.synchronize(here);
    here.clear();
    ++times;
  }
  // The last to come waits a turn, too: lanes of a warp go on in their order.
  do EmulatedWarp::current().yield();
  while (times == generation);
}

}  // namespace sptile::test

void __syncwarp() {
  auto& warp = sptile::test::EmulatedWarp::current();
  warp.exchange({});
  if (warp.comes_first()) sptile::test::memory_order.synchronize(warp.threads());
}

void __syncthreads() { sptile::test::emulated_block.block_meeting.synchronize(sptile::test::block_size.x); }

namespace sptile::runtime::cuda {

using test::emulated_block;

std::uint32_t dynamic_shared() { return test::EmulatedBlock::kBegin; }
std::uint32_t swizzled_shared() {
  static_assert(test::EmulatedBlock::kBegin % kSwizzledBytes == 0);
  return test::EmulatedBlock::kBegin;
}
unsigned count_up(unsigned* count) {
  test::memory_order.count(count);
  return (*count)++;
}

void barrier_init(std::uint32_t barrier, unsigned arrivals) {
  emulated_block.barriers[barrier] = {arrivals, arrivals, 0, 0};
}
void barrier_arrive(std::uint32_t barrier) {
  auto& b = emulated_block.barriers.at(barrier);
  --b.pending;
  b.settle();
}
void barrier_arrive_copied(std::uint32_t barrier) {
  copy_wait_all();
  barrier_arrive(barrier);
}
void barrier_wait(std::uint32_t barrier, unsigned parity) {
  const auto& b = emulated_block.barriers.at(barrier);
  while (b.phase == parity) {
    emulated_block.perform_bulk(barrier);
    if (b.phase == parity) test::EmulatedWarp::current().yield();
  }
}
void barrier_arrive_expect(std::uint32_t barrier, unsigned bytes) {
  emulated_block.barriers.at(barrier).bytes += bytes;
  barrier_arrive(barrier);
}

void copy_16(std::uint32_t to, const void* from) {
  emulated_block.copies[test::thread_index.x].push_back({to, from, 16});
}
void copy_wait_all() {
  auto& mine = emulated_block.copies[test::thread_index.x];
  for (const auto& copy : mine) emulated_block.perform(copy);
  mine.clear();
}
void copy_bulk(std::uint32_t to, const void* from, unsigned bytes, std::uint32_t barrier) {
  emulated_block.bulk_copies[barrier].push_back({to, from, bytes});
}
void fence_async() {}
void warpgroup_arrive() { __syncwarp(); }
void warpgroup_commit() {}
void warpgroup_wait() { __syncwarp(); }
void copy_commit() { emulated_block.groups_of_thread().emplace_back(); }

void store_half(std::uint32_t to, unsigned short x) { emulated_block.perform({to, &x, 2}); }
void store_word(std::uint32_t to, std::uint32_t x) { emulated_block.perform({to, &x, 4}); }
void store_pair(std::uint32_t to, uint2 x) { emulated_block.perform({to, &x, 8}); }
void store_piece_16(std::uint32_t to, uint4 x) { emulated_block.perform({to, &x, 16}); }
std::uint32_t shared_word(std::uint32_t at) { return emulated_block.read<std::uint32_t>(at); }
uint2 shared_pair(std::uint32_t at) { return emulated_block.read<uint2>(at); }
uint4 shared_piece(std::uint32_t at) { return emulated_block.read<uint4>(at); }
std::uint32_t shared_half(std::uint32_t at) { return emulated_block.read<std::uint16_t>(at); }

void admit_next_kernel() {}
void await_previous_kernel() {}
void follow_previous_kernel() {}

}  // namespace sptile::runtime::cuda
