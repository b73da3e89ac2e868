// Common parts of calls to METIS.
#pragma once

#include <metis.h>

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "reorder/graph/graph.hpp"

namespace sptile::reorder {

/// Returns the mutex to hold during a call: METIS uses the random numbers of the C library and handles
/// signals, both of which are global to the process.
std::mutex& metis_lock();

/// The vertices with neighbors as METIS's integers, in mutable arrays as METIS requires.
struct MetisGraph {
  std::vector<std::int32_t> vertex;  ///< vertex of the graph for each METIS vertex
  std::vector<idx_t> offsets, neighbours, weights;

  [[nodiscard]] idx_t size() const { return static_cast<idx_t>(vertex.size()); }
};

/// Errc::unsupported if METIS's integers are too small; the message recommends `instead`.
Status check_metis_fits(const Graph& graph, std::string_view instead);

/// Builds the graph without weights.
MetisGraph metis_graph(const Graph& graph);

struct MetisOptions {
  idx_t values[METIS_NOPTIONS];

  explicit MetisOptions(std::uint64_t seed);
};

/// Converts METIS's return code.
Status metis_outcome(int code);

}  // namespace sptile::reorder
