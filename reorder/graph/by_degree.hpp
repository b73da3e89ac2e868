// Vertices of a graph by degree.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/buffer.hpp"
#include "reorder/graph/graph.hpp"

namespace sptile::reorder {

/// The vertices by ascending degree, then by id.
struct DegreeOrder {
  formats::Buffer<std::int32_t> vertices;
  formats::Buffer<std::int32_t> degrees;  ///< at most 2^31 - 1 neighbors per vertex

  [[nodiscard]] std::int64_t degree(std::int64_t position) const { return degrees[position]; }
};

/// O(vertices) for bounded degrees, parallel.
DegreeOrder by_ascending_degree(const Graph& graph);

}  // namespace sptile::reorder
