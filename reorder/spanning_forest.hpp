// A spanning forest of greatest weight, and the order in which a walk over it meets the vertices.
#pragma once

#include <cstdint>
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
std::vector<WeightedEdge> maximum_spanning_forest(std::int64_t vertices, std::vector<WeightedEdge> edges);

/// Lists the vertices of the forest tree by tree, each tree in the order of a depth-first walk; a tree starts
/// at its first vertex in `roots`, which must name every vertex once. Small branches are walked before large
/// ones: a walk that comes back from a branch then has not gone far. O(vertices), without recursion.
std::vector<std::int32_t> depth_first_order(const std::vector<WeightedEdge>& forest,
                                            const std::vector<std::int32_t>& roots);

}  // namespace sptile::reorder
