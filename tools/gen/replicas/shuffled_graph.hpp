// Common parts of the graphs that the results pages reorder: serial generators whose vertices are then
// permuted at random.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "tools/gen/replicas/replica.hpp"

namespace sptile::tools::gen {

/// The random numbers of these graphs: a Mersenne Twister, from which std::shuffle draws too. The graphs are
/// those of libstdc++.
class ShuffledGraphStream {
 public:
  explicit ShuffledGraphStream(std::uint64_t seed) : engine_(replica_seed(12345, seed)) {}

  /// Draws from 0..bound-1, for bound >= 1.
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(bound));
  }
  /// Draws a multiple of 2^-53 from [0, 1).
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  /// Permutes the elements at random.
  void shuffle(std::vector<std::int32_t>& elements) {
    std::shuffle(elements.begin(), elements.end(), engine_);
  }

 private:
  std::mt19937_64 engine_;
};

enum class EdgeKind : std::uint8_t { directed, undirected };

/// Permutes the vertices at random and builds the pattern of the edges; merges repeated ones.
formats::Csr shuffled_graph(const Edges& edges, std::int64_t vertices, EdgeKind kind,
                            ShuffledGraphStream& random, Progress* progress);

}  // namespace sptile::tools::gen
