// Samples of neighbours for mini-batches of graph networks (Hamilton, Ying and Leskovec, "Inductive
// representation learning on large graphs", NeurIPS 2017).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "formats/core/error.hpp"

namespace sptile::formats {

/// The neighborhood of the seeds. Node i of the sample is node node_ids[i] of the graph: first the seeds,
/// then each node in the order in which it was found. Row i of the sampled graph has the chosen neighbors of
/// node i; nodes of the last hop have none.
struct NeighborSample {
  std::vector<std::int64_t> node_ids;
  std::vector<std::int64_t> row_ptr;   ///< one per node, and the number of edges
  std::vector<std::int32_t> col_idx;   ///< nodes of the sample, ascending in each row
  std::vector<std::int64_t> edge_ids;  ///< entry of the graph of each edge
  std::vector<std::int64_t> ends;      ///< number of nodes within 0, 1, ... hops
};

/// Samples at most fan_outs[h] neighbors, without replacement, of each node that was found in hop h; hop 0
/// are the seeds, and a fan-out of -1 takes all neighbors. Each subset of the row of a node has the same
/// probability. Random numbers depend on `seed` and the node's place in the sample only. Repeated seeds are
/// separate nodes; edges lead to the first one.
///
/// Errc::usage for a graph that is not square, a fan-out below 1 other than -1, or a seed that is not a node;
/// Errc::unsupported for samples of 2^31 nodes or more; Errc::bad_input for rows or columns of the graph that
/// are out of range, of which only visited ones are checked. O(seeds + edges of the sample) time and memory.
Result<NeighborSample> sample_neighbors(const CsrView& graph, std::span<const std::int64_t> seeds,
                                        std::span<const std::int64_t> fan_outs, std::uint64_t seed);

}  // namespace sptile::formats
