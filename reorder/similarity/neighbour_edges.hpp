// Nearest rows as the edges of a graph.
#pragma once

#include <vector>

#include "reorder/graph/spanning_forest.hpp"
#include "reorder/similarity/nearest_rows.hpp"

namespace sptile::reorder {

/// Returns one edge for each pair of rows of which at least one is among the nearest rows of the other,
/// weighted by similarity. The edges of a row are contiguous. O(rows * neighbours^2), parallel.
std::vector<WeightedEdge> edges_of(const NearestRows& nearest);

}  // namespace sptile::reorder
