// Communities of a graph as a tree of merges: what rabbit and affinity lay out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/error.hpp"
#include "formats/core/progress.hpp"
#include "reorder/graph/graph.hpp"

namespace sptile::reorder {

/// A forest over the vertices: v hangs below the vertex whose community took it in. Roots stand for
/// communities. Children are linked from the last merge to the first; -1 ends a list.
struct Dendrogram {
  formats::Buffer<std::int32_t> parent;  ///< itself for a root
  formats::Buffer<std::int32_t> last_child;
  formats::Buffer<std::int32_t> previous_sibling;
};

/// Merges each vertex, by ascending degree, into the neighbouring community of most modularity gain, if there
/// is any: the incremental aggregation of Arai et al., "Rabbit Order: Just-in-time Parallel Reordering for
/// Fast Graph Analysis" (IPDPS 2016), in rounds. The vertices of a round choose in parallel, by the state
/// before it; then they merge one after the other, and those whose choice no longer holds choose again.
/// Rounds depend on the graph only, so any number of threads gives the same forest.
/// About O(edges): each edge is read again where a community that it leaves merges, at most 32 times on
/// average (then communities stop growing by more than single vertices). Memory: about 3 times the graph.
Result<Dendrogram> merge_communities(const Graph& graph, Progress* progress);

/// The vertices in preorder: communities by the id of their root, each vertex before those merged into it,
/// the first merge first. Iterative, O(vertices).
std::vector<std::int32_t> depth_first(const Dendrogram& tree);

/// The rows of `a` among the vertices of graph_of(a), in their order, but rows without entries last.
/// O(vertices).
std::vector<std::int32_t> rows_of(const formats::CsrView& a, std::span<const std::int32_t> vertices);

}  // namespace sptile::reorder
