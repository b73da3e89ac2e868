// A spanning forest of greatest weight, and the order in which a walk over it meets the vertices.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace sptile::reorder {

/// An undirected edge.
struct WeightedEdge {
  float weight;
  std::int32_t a, b;
};

/// Takes the edges of a spanning forest of greatest total weight, heaviest first (Kruskal: "On the shortest
/// spanning subtree of a graph", 1956). Equal weights: the edge with the lower a, then b, first; so the
/// result is unique. `edges` may hold loops and repeats. O(edges log edges), the sort in parallel.
/// With `most`, an edge that would make a tree of more vertices is left out: clusters of bounded size.
std::vector<WeightedEdge> maximum_spanning_forest(
    std::int64_t vertices, std::vector<WeightedEdge> edges,
    std::int32_t most = std::numeric_limits<std::int32_t>::max());

/// The vertices tree by tree.
struct ForestWalk {
  std::vector<std::int32_t> order;
  std::vector<std::int64_t> tree_starts;  ///< where each tree begins in `order`, then the number of vertices
};

/// Walks each tree depth first, from its first vertex in `roots`, which must name every vertex once; trees in
/// the order of their roots. Small branches come before large ones: a walk that comes back from a branch then
/// has not gone far; among equal branches the lower vertex is first. O(vertices log degree), without
/// recursion.
ForestWalk walk_depth_first(const std::vector<WeightedEdge>& forest, const std::vector<std::int32_t>& roots);

}  // namespace sptile::reorder
