// What every call of METIS needs around it.
#pragma once

#include <metis.h>

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "reorder/graph/graph.hpp"

namespace sptile::reorder {

/// To be held during a call: METIS draws its random numbers from the C library and traps signals, both for
/// the whole process.
std::mutex& metis_lock();

/// The vertices with neighbours, in METIS's own integers: it takes no constant arrays.
struct MetisGraph {
  std::vector<std::int32_t> vertex;  ///< of the graph, by METIS's number
  std::vector<idx_t> offsets, neighbours, weights;

  [[nodiscard]] idx_t size() const { return static_cast<idx_t>(vertex.size()); }
};

/// Errc::unsupported where METIS's integers are too small; `instead` has no such limit.
Status check_metis_fits(const Graph& graph, std::string_view instead);

/// Without weights.
MetisGraph metis_graph(const Graph& graph);

struct MetisOptions {
  idx_t values[METIS_NOPTIONS];

  explicit MetisOptions(std::uint64_t seed);
};

/// What the code means that METIS returned.
Status metis_outcome(int code);

}  // namespace sptile::reorder
