// Parallel selection of indices in order; see parallel_loop.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "formats/core/parallel_loop.hpp"

namespace sptile::parallel {

/// Calls put(position, i) for each i in 0 .. n - 1 with keep(i), where position is the number of earlier such
/// i. Returns the number of calls. keep(i) runs twice and must return the same value. O(n).
template <class Keep, class Put>
std::int64_t select(std::int64_t n, const Keep& keep, const Put& put) {
  constexpr std::int64_t kBlock = 1 << 13;
  const std::int64_t blocks = (n + kBlock - 1) / kBlock;
  std::vector<std::int64_t> first(static_cast<std::size_t>(blocks) + 1, 0);
  loop(std::int64_t{0}, blocks, [&](std::int64_t block) {
    std::int64_t count = 0;
    for (std::int64_t i = block * kBlock, end = std::min(n, i + kBlock); i < end; ++i) count += keep(i);
    first[static_cast<std::size_t>(block) + 1] = count;
  });
  for (std::size_t block = 1; block < first.size(); ++block) first[block] += first[block - 1];
  loop(std::int64_t{0}, blocks, [&](std::int64_t block) {
    std::int64_t position = first[static_cast<std::size_t>(block)];
    for (std::int64_t i = block * kBlock, end = std::min(n, i + kBlock); i < end; ++i)
      if (keep(i)) put(position++, i);
  });
  return first.back();
}

}  // namespace sptile::parallel
