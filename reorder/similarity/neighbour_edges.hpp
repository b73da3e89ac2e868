// Nearest rows as the edges of a graph.
#pragma once

#include <vector>

#include "reorder/graph/spanning_forest.hpp"
#include "reorder/similarity/nearest_rows.hpp"

namespace sptile::reorder {

/// Gives one edge for each pair of rows of which one is among the nearest of the other, with the similarity
/// as its weight; a row's edges stand together. O(rows * neighbours^2), parallel.
std::vector<WeightedEdge> edges_of(const NearestRows& nearest);

}  // namespace sptile::reorder
