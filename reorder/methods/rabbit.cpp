#include "reorder/methods/rabbit.hpp"

#include "reorder/graph/communities.hpp"
#include "reorder/graph/graph.hpp"

namespace sptile::reorder {

Result<std::vector<std::int32_t>> order_by_rabbit(const formats::CsrView& a, const ReorderOptions& options) {
  const auto graph = graph_of(a);
  if (!graph) return tl::unexpected(graph.error());
  const auto tree = merge_communities(*graph, options.progress);
  if (!tree) return tl::unexpected(tree.error());
  return rows_of(a, depth_first(*tree));
}

}  // namespace sptile::reorder
