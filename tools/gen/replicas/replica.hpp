// Common parts of the replicas: synthetic graphs with the size and the structure of known data sets, for
// measurements where the data set is not available. A replica has no other relation to the data set.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "formats/core/random.hpp"
#include "tools/gen/assemble.hpp"
#include "tools/gen/generator.hpp"

namespace sptile::tools::gen {

/// The random numbers of the replicas: SplitMix64 (see formats/core/random.hpp) with a starting state that
/// keeps the graphs of published measurements.
class ReplicaStream {
 public:
  constexpr explicit ReplicaStream(std::uint64_t seed) : state_((seed + 2) * kStep + 0x1234567) {}

  /// Draws a multiple of 2^-53 from [0, 1).
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// Draws from 0..bound-1, for 1 <= bound < 2^32.
  constexpr std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>((next() >> 32) * static_cast<std::uint64_t>(bound) >> 32);
  }

  /// Draws 0..bound-1 with probabilities that fall with the value: `bound` times a product of two uniform
  /// numbers.
  double low(double bound) {
    const double scaled = bound * uniform();
    return scaled * uniform();
  }

  /// Draws from a normal distribution with mean 0 (Box and Muller, 1958).
  double normal(double deviation) {
    const double radius = std::sqrt(-2 * std::log(uniform() + 1e-12));
    return deviation * radius * std::cos(6.283185307 * uniform());
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ull;
  constexpr std::uint64_t next() { return mix_bits(state_ += kStep); }

  std::uint64_t state_;
};

/// Combines the number of a replica with the seed of the command: the default seed 1 gives the published
/// graph.
constexpr std::uint64_t replica_seed(std::uint64_t number, std::uint64_t seed) {
  return number + mix_bits(seed - 1);
}

/// Returns the random numbers of row r.
constexpr ReplicaStream row_stream(std::uint64_t seed, std::int64_t r) {
  return ReplicaStream(seed * 1000003 + static_cast<std::uint64_t>(r));
}

/// Returns random numbers that depend only on a vertex, not on the seed: its degree or weight, or a random
/// vertex for it.
constexpr ReplicaStream vertex_stream(std::int64_t vertex, std::uint64_t factor, std::uint64_t salt) {
  return ReplicaStream(static_cast<std::uint64_t>(vertex) * factor + salt);
}

/// Returns the value of entry k: a multiple of 2^-24 in [0, 1) mapped to [0.1, 1).
inline float replica_value(std::int64_t k) {
  const std::uint64_t bits = mix_bits(static_cast<std::uint64_t>(k) * 0x9e3779b97f4a7c15ull + 77) >> 40;
  return 0.1f + 0.9f * (static_cast<float>(bits) * 0x1p-24f);
}

/// Declares --rows with the number of rows of the data set.
constexpr ArgumentSpec replica_rows(double rows, double maximum = 1e9) {
  return {"rows", "number of rows; published measurements use the default", true, 1, maximum, rows};
}

/// Returns a random permutation of 0..n-1 (Fisher-Yates). O(n), serial.
std::vector<std::int32_t> replica_permutation(std::int64_t n, std::uint64_t seed);

/// Undirected edges of a serial generator.
using Edges = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Builds the symmetric pattern of the edges and merges repeated ones.
formats::Csr csr_from_drawn_edges(const Edges& edges, std::int64_t vertices, Progress* progress);

/// Returns the table row of a replica: a square matrix with the values of replica_value.
constexpr Generator replica(std::string_view name, std::string_view summary, std::string_view example,
                            std::span<const ArgumentSpec> arguments,
                            Result<formats::Csr> (*structure)(const Parameters&, std::uint64_t, Progress*)) {
  return {name, summary, example, Shape::square, arguments, structure, nullptr, replica_value};
}

}  // namespace sptile::tools::gen
