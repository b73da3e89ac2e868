// Communities of a graph as a tree of merges, for the rabbit and affinity orderings.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/error.hpp"
#include "formats/core/progress.hpp"
#include "reorder/graph/graph.hpp"

namespace sptile::reorder {

/// A forest over the vertices: the parent of v is the vertex whose community v was merged into, and roots
/// represent communities. Children are linked from the last merge to the first; -1 ends a list.
struct Dendrogram {
  formats::Buffer<std::int32_t> parent;  ///< the vertex itself for a root
  formats::Buffer<std::int32_t> last_child;
  formats::Buffer<std::int32_t> previous_sibling;
};

/// Merges each vertex, by ascending degree, into the neighboring community with the maximum modularity gain,
/// if a merge gains: the incremental aggregation of Arai et al., "Rabbit Order: Just-in-time Parallel
/// Reordering for Fast Graph Analysis" (IPDPS 2016), in rounds. The vertices of a round choose in parallel,
/// based on the state before the round; then they merge sequentially, and vertices whose choice is outdated
/// choose again. Rounds depend only on the graph, so that the forest is the same for any number of threads.
/// About O(edges): an edge is read again for each merge of its community, at most 32 times on average (after
/// that, communities grow only by single vertices). Memory: about 3 times the graph.
Result<Dendrogram> merge_communities(const Graph& graph, Progress* progress);

/// Returns the vertices in preorder: communities by the id of their root, each vertex before the vertices
/// merged into it, earlier merges first. Iterative, O(vertices).
std::vector<std::int32_t> depth_first(const Dendrogram& tree);

/// Returns the rows of `a` among the vertices of graph_of(a), in their order, except that empty rows are
/// last. O(vertices).
std::vector<std::int32_t> rows_of(const formats::CsrView& a, std::span<const std::int32_t> vertices);

}  // namespace sptile::reorder
