#include "runtime/cpu/chunk.hpp"

#include <algorithm>

namespace sptile::runtime {
namespace {

constexpr std::int64_t kChunksPerThread = 16;
/// minimum multiplications per chunk, about 5 us, so that scheduling is cheap in comparison
constexpr std::int64_t kMinProducts = 1 << 16;
constexpr std::int64_t kEntryProducts = 7;  ///< multiplications that take as long as reading an entry
constexpr std::int64_t kColumnStep = 64;    ///< columns are split at multiples of this

/// Returns the first unit in (first, last] whose cumulative cost reaches `goal`.
std::int64_t unit_reaching(std::int64_t first, std::int64_t last, const CostBefore& cost_before,
                           std::int64_t goal) {
  std::int64_t low = first + 1, high = last;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (cost_before(middle) >= goal)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace

std::int64_t column_steps(std::int64_t n) { return (n + kColumnStep - 1) / kColumnStep; }

void append_by_columns(std::vector<Chunk>& chunks, std::int64_t first, std::int64_t last, std::int64_t n,
                       std::int64_t parts) {
  const std::int64_t steps = column_steps(n);
  parts = std::clamp<std::int64_t>(parts, 1, steps);
  for (std::int64_t p = 0; p < parts; ++p)
    chunks.push_back(
        {first, last, steps * p / parts * kColumnStep, std::min(n, steps * (p + 1) / parts * kColumnStep)});
}

std::int64_t max_chunks(int threads) {
  // total / target is below 2 * threads * kChunksPerThread, because the division that computes the target
  // rounds down. A range of units reaches the target, precedes a unit that does, or is the last one.
  // Splitting columns adds at most total / target chunks.
  constexpr std::int64_t kShares = 3, kKinds = 3;
  return kShares * 2 * kChunksPerThread * threads + kKinds;
}

std::int64_t chunk_target(std::int64_t total_cost, std::int64_t n, int threads) {
  const std::int64_t smallest = std::max<std::int64_t>(1, kMinProducts / (n + kEntryProducts));
  return std::max(smallest, total_cost / (threads * kChunksPerThread));
}

void append_chunks(std::vector<Chunk>& chunks, std::int64_t first, std::int64_t last, std::int64_t n,
                   const CostBefore& cost_before, std::int64_t target) {
  while (first < last) {
    const std::int64_t start = cost_before(first);
    const std::int64_t next = unit_reaching(first, last, cost_before, start + target);
    const std::int64_t cost = cost_before(next) - start;
    // The last unit of the range may be very large. It then becomes a separate chunk.
    if (next - first > 1 && cost > 2 * target) {
      append_by_columns(chunks, first, next - 1, n, 1);
      first = next - 1;
      continue;
    }
    append_by_columns(chunks, first, next, n, next - first == 1 ? cost / target : 1);
    first = next;
  }
}

}  // namespace sptile::runtime
