// Maximum-weight spanning forest and its depth-first order.
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

/// Returns the edges of a maximum-weight spanning forest, heaviest first (Kruskal, "On the shortest spanning
/// subtree of a graph", 1956). Equal weights are ordered by a, then by b, so the result is unique. `edges`
/// may contain loops and duplicates. `max` bounds the vertices per tree: edges that would exceed it are
/// skipped. O(edges log edges) with a parallel sort.
std::vector<WeightedEdge> maximum_spanning_forest(
    std::int64_t vertices, std::vector<WeightedEdge> edges,
    std::int32_t max = std::numeric_limits<std::int32_t>::max());

/// Vertices tree by tree.
struct ForestWalk {
  std::vector<std::int32_t> order;
  std::vector<std::int64_t> tree_starts;  ///< start of each tree in `order`, then the number of vertices
};

/// Traverses each tree depth first from its first vertex in `roots`, which must contain every vertex once;
/// trees are in the order of their roots. Smaller branches are visited first, so that returning from a branch
/// does not lead far; ties are broken by the lower vertex. O(vertices log degree), without recursion.
ForestWalk walk_depth_first(const std::vector<WeightedEdge>& forest, const std::vector<std::int32_t>& roots);

}  // namespace sptile::reorder
