// Draws of single edges, for generators with different streams of random numbers: `uniform()` from [0, 1) and
// `below(bound)` from 0..bound-1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace sptile::tools::gen {

/// Draws an edge of an R-MAT graph with 2^scale vertices (Chakrabarti, Zhan and Faloutsos, "R-MAT: a
/// recursive model for graph mining", SDM 2004). The probabilities of the four quadrants are those of Graph
/// 500: 0.57, 0.19, 0.19, 0.05.
template <class Stream>
std::pair<std::int64_t, std::int64_t> draw_rmat_edge(Stream& random, std::int64_t scale) {
  std::int64_t u = 0, v = 0;
  for (std::int64_t level = 0; level < scale; ++level) {
    const double x = random.uniform();
    u = 2 * u + (x >= 0.76);
    v = 2 * v + ((x >= 0.57 && x < 0.76) || x >= 0.95);
  }
  return {u, v};
}

/// Returns community boundaries, with sizes from a power law with exponent 2.5, between 20 and 1000.
template <class Stream>
std::vector<std::int64_t> draw_borders(Stream& random, std::int64_t rows) {
  std::vector<std::int64_t> borders{0};
  while (borders.back() < rows) {
    const double size = std::min(20 * std::pow(1 - random.uniform(), -1 / 1.5), 1000.0);
    borders.push_back(std::min(rows, borders.back() + static_cast<std::int64_t>(size)));
  }
  return borders;
}

/// Draws an edge between two vertices of a community or, with probability `mix`, of the graph.
template <class Stream>
std::pair<std::int64_t, std::int64_t> draw_community_edge(Stream& random,
                                                          const std::vector<std::int64_t>& borders,
                                                          double mix) {
  const std::int64_t u = random.below(borders.back());
  std::int64_t first = 0, last = borders.back();
  if (random.uniform() >= mix) {
    const auto end = std::upper_bound(borders.begin(), borders.end(), u);
    first = *(end - 1);
    last = *end;
  }
  return {u, first + random.below(last - first)};
}

}  // namespace sptile::tools::gen
