// Rules for merging communities, for the CPU (reorder/graph) and devices (runtime/cuda/reorder): equal rules
// give equal orders.
#pragma once

#include <cstdint>
#include <limits>

#include "formats/core/random.hpp"

namespace sptile::communities {

inline constexpr std::int64_t kRounds = 256;  // a round contains about 1 / kRounds of vertices and edges
inline constexpr std::int64_t kSmallestRound = 16;  // minimum vertices per round
inline constexpr std::int64_t kReadsPerEdge = 32;   // average limit on reads, then communities are not read
inline constexpr std::int64_t kGiveUpPerEdge = 64;  // average limit, then deferred vertices are dropped
inline constexpr double kMinGain = std::numeric_limits<double>::min();  // minimum gain of a merge

/// Limits on the new vertices of a round, by ascending degree: vertices are added while their number is below
/// `vertices` and the sum of their degrees is at most `edges`.
struct RoundLimits {
  std::int64_t vertices, edges;
};
constexpr RoundLimits round_limits(std::int64_t vertices, std::int64_t edges) {
  const std::int64_t part = vertices / kRounds;
  return {part > kSmallestRound ? part : kSmallestRound, edges / kRounds};
}

/// Gain in modularity, up to a factor, of merging communities with these sums of degrees, joined by `weight`
/// of all edges. Products above 2^53 are rounded, so no compiler may fuse the operations.
constexpr double merge_gain(std::uint32_t weight, double edges, std::uint32_t strength, std::uint32_t other) {
  return weight * edges - static_cast<double>(strength) * other;
}

/// Returns whether such a merge gains.
constexpr bool gains(std::uint32_t weight, double edges, std::uint32_t strength, std::uint32_t other) {
  return weight * edges > static_cast<double>(strength) * other;
}

/// Priority of a vertex in chains of choices. It changes with the round, so that chains are short.
constexpr std::uint64_t merge_priority(std::uint64_t round, std::int32_t vertex) {
  return mix_bits(round << 32 | static_cast<std::uint64_t>(vertex));
}

}  // namespace sptile::communities
