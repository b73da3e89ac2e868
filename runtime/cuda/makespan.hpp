// When the last block ends, of blocks that start one after another as others end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sptile::runtime::cuda {

/// Blocks of these costs, in this order, of which `slots` run at a time. O(blocks log slots).
inline std::int64_t makespan(std::span<const std::int64_t> costs, std::int64_t slots) {
  std::vector<std::int64_t> ends;  // of the blocks that run: a heap, the earliest on top
  ends.reserve(std::min(costs.size(), static_cast<std::size_t>(slots)));
  std::int64_t latest = 0;
  for (const std::int64_t cost : costs) {
    std::int64_t start = 0;
    if (std::ssize(ends) == slots) {
      std::ranges::pop_heap(ends, std::greater{});
      start = ends.back();
      ends.pop_back();
    }
    ends.push_back(start + cost);
    std::ranges::push_heap(ends, std::greater{});
    latest = std::max(latest, start + cost);
  }
  return latest;
}

}  // namespace sptile::runtime::cuda
