#include "tools/gen/replicas/replica.hpp"

#include <numeric>

namespace sptile::tools::gen {

std::vector<std::int32_t> replica_permutation(std::int64_t n, std::uint64_t seed) {
  ReplicaStream random(seed);
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = n - 1; i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(random.below(i + 1))]);
  return order;
}

formats::Csr csr_from_drawn_edges(const Edges& edges, std::int64_t vertices, Progress* progress) {
  EdgeList list(static_cast<std::int64_t>(edges.size()));
  for_each_counted(progress, "generate", static_cast<std::int64_t>(edges.size()), [&](std::int64_t i) {
    const auto& edge = edges[static_cast<std::size_t>(i)];
    list.set(i, edge.first, edge.second);
  });
  return csr_from_edges(std::move(list), vertices, progress);
}

}  // namespace sptile::tools::gen
