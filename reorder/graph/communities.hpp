// Communities of a graph as a tree of merges, for the rabbit and affinity orderings.
#pragma once

#include "formats/core/error.hpp"
#include "formats/core/progress.hpp"
#include "reorder/graph/dendrogram.hpp"
#include "reorder/graph/graph.hpp"

namespace sptile::reorder {

/// Work of a search for communities.
struct MergeWork {
  std::int64_t rounds = 0;
  std::int64_t choices = 0;  ///< including those that were deferred
  std::int64_t reads = 0;    ///< links read
};

/// Merges each vertex, by ascending degree, into the neighboring community with the maximum modularity gain,
/// if a merge gains: the incremental aggregation of Arai et al., "Rabbit Order: Just-in-time Parallel
/// Reordering for Fast Graph Analysis" (IPDPS 2016), in rounds whose steps are parallel.
///
/// The vertices of a round choose based on the state before the round. Of a chain of choices (u chooses v,
/// and v chooses w), hashed priorities decide which end merges. Then each community accepts the vertices that
/// chose it in their order, as long as a merge still gains. Vertices that could not merge choose again in the
/// next round. Rounds, priorities and sums depend only on the graph: the forest is the same for any number of
/// threads.
///
/// About O(edges): an edge is read again for each merge of its community, at most 32 times on average. After
/// that, communities grow only by single vertices, and at 64 times deferred vertices remain roots. Memory:
/// about 3 times the graph.
Result<Dendrogram> merge_communities(const Graph& graph, Progress* progress, MergeWork* work = nullptr);

}  // namespace sptile::reorder
