#include "tools/gen/replicas/shuffled_graph.hpp"

#include <numeric>

namespace sptile::tools::gen {

formats::Csr shuffled_graph(const Edges& edges, std::int64_t vertices, EdgeKind kind,
                            ShuffledGraphStream& random, Progress* progress) {
  std::vector<std::int32_t> label(static_cast<std::size_t>(vertices));
  std::iota(label.begin(), label.end(), 0);
  random.shuffle(label);
  const auto count = static_cast<std::int64_t>(edges.size());
  const bool directed = kind == EdgeKind::directed;
  EdgeList list = directed ? EdgeList::directed(count) : EdgeList(count);
  for_each_counted(progress, "generate", count, [&](std::int64_t i) {
    const Edges::value_type& edge = edges[static_cast<std::size_t>(i)];
    const std::int64_t u = label[static_cast<std::size_t>(edge.first)],
                       v = label[static_cast<std::size_t>(edge.second)];
    directed ? list.set_directed(i, u, v) : list.set(i, u, v);
  });
  return csr_from_edges(std::move(list), vertices, progress);
}

}  // namespace sptile::tools::gen
