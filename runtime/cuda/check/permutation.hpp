// Whether an array on a device is a permutation.
#pragma once

#include <cstdint>

#include "runtime/cuda/check/columns.hpp"
#include "runtime/cuda/convert/format_memory.hpp"

namespace sptile::runtime::cuda {

/// Each position is there, once: as many as there are, none outside, none twice.
template <class Id>
struct CheckPermutation {
  const Id* ids;
  std::int64_t count;
  std::uint32_t* seen;  ///< a bit for each position
  std::uint32_t* fault;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t id = ids[i];
    const bool exists = id >= 0 && id < count;
    const std::uint32_t bit = std::uint32_t{1} << (id & 31);
    note_fault(fault, exists && (atomic_or(seen + id / 32, bit) & bit) == 0);
  }
};

struct PermutationRoom {
  std::uint32_t* seen = nullptr;

  void place(Arena& arena, std::int64_t words) { arena.take(seen, words); }
};

template <class Run, class Id>
Status check_permutation_on(Run& run, const Id* ids, std::int64_t count, std::uint32_t* fault) {
  const std::int64_t words = (count + 31) / 32;
  Room<PermutationRoom> room;
  if (Status s = room.make(run, words); !s) return s;
  run.clear(room.seen, static_cast<std::size_t>(words) * sizeof *room.seen);
  run.each(count, CheckPermutation<Id>{ids, count, room.seen, fault});
  return run.status();
}

}  // namespace sptile::runtime::cuda
