// Split reductions, run on the host lane by lane: one of all is the last, and it sees what the others stored.
#include <doctest/doctest.h>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "runtime/cuda/collective/split.cuh"
#pragma GCC diagnostic pop

#include <numeric>

using namespace sptile::test;
using namespace sptile::runtime::cuda;

namespace {

constexpr std::int32_t kMembers = 5;

/// One partial sum per thread of each block, and the counters.
struct Parts {
  explicit Parts(unsigned size) : threads(size), partials(kMembers * size), sums(size) {}

  unsigned threads;
  std::vector<float> partials, sums;
  std::vector<unsigned> arrived = std::vector<unsigned>(4);
  int last = 0;  ///< threads that were told to add

  void store() { __stcg(&partials[block_index.x * threads + thread_index.x], float(1 + block_index.x)); }
  void add() {
    ++last;
    float sum = 0;
    for (unsigned b = 0; b < kMembers; ++b) sum += __ldcg(&partials[b * threads + thread_index.x]);
    sums[thread_index.x] = sum;
  }
  void check_sums(int adding) const {
    CHECK(last == adding);
    CHECK(std::accumulate(sums.begin(), sums.end(), 0.0F) == 15.0F * float(adding));
    for (const unsigned count : arrived) CHECK(count == 0);
    CHECK_FALSE(EmulatedWarp::diverged);
  }
};

void run(unsigned threads, const std::function<void()>& kernel) {
  launch(dim3(kMembers), threads, kernel, [] { emulated_block.clear(0); });
}

bool take_violation() { return std::exchange(memory_order.violated, false); }

/// Counts in by one lane, and tells the others by a shuffle alone, which does not order memory.
bool arrives_by_shuffle(unsigned* arrived) {
  __syncwarp();
  unsigned before = 0;
  if (thread_index.x == 0) before = count_up(arrived);
  before = __shfl_sync(~0u, before, 0);
  if (before + 1 != kMembers) return false;
  __threadfence();
  if (thread_index.x == 0) *arrived = 0;
  return true;
}

}  // namespace

TEST_CASE("split reductions: all lanes of the warp that arrives last see all partial sums") {
  Parts parts(32);
  run(32, [&] {
    parts.store();
    if (warp_arrives_last(parts.arrived.data(), kMembers, static_cast<int>(thread_index.x))) parts.add();
  });
  parts.check_sums(32);
  CHECK_FALSE(take_violation());
}

TEST_CASE("split reductions: groups of lanes have their own counters, some groups none") {
  Parts parts(32);
  run(32, [&] {
    const unsigned group = thread_index.x / 8;
    if (group != 2) parts.store();
    if (warp_arrives_last<8>(&parts.arrived[group], kMembers, static_cast<int>(thread_index.x % 8),
                             group != 2))
      parts.add();
  });
  parts.check_sums(24);
  CHECK_FALSE(take_violation());
}

TEST_CASE("split reductions: all threads of the block that arrives last see all partial sums") {
  Parts parts(96);
  bool last = false;
  run(96, [&] {
    parts.store();
    if (block_arrives_last(parts.arrived.data(), kMembers, last)) parts.add();
  });
  parts.check_sums(96);
  CHECK_FALSE(take_violation());
}

TEST_CASE("split reductions: a shuffle does not order memory, and the emulation notices") {
  Parts parts(32);
  run(32, [&] {
    parts.store();
    if (arrives_by_shuffle(parts.arrived.data())) parts.add();
  });
  parts.check_sums(32);
  CHECK(take_violation());
}

TEST_CASE("split reductions: a counter alone does not order memory without a fence") {
  Parts parts(32);
  run(32, [&] {
    parts.store();
    __syncwarp();
    bool last = false;
    if (thread_index.x == 0) last = count_up(parts.arrived.data()) + 1 == kMembers;
    last = __shfl_sync(~0u, last, 0);
    __syncwarp();
    if (last) parts.add();
  });
  CHECK(parts.last == 32);
  CHECK(take_violation());
}
