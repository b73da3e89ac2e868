#include "reorder/similarity/neighbour_edges.hpp"

#include <algorithm>

#include "formats/core/parallel_loop.hpp"

namespace sptile::reorder {

std::vector<WeightedEdge> edges_of(const NearestRows& nearest) {
  const auto rows = static_cast<std::size_t>(nearest.counts.size());
  // A pair found from both rows is added by the lower row.
  const auto tells = [&](std::size_t r, const Neighbour& n) {
    const auto id = static_cast<std::int32_t>(r);
    return id < n.row || std::ranges::find(nearest.of(n.row), id, &Neighbour::row) == nearest.of(n.row).end();
  };
  std::vector<std::int64_t> first(rows + 1);
  parallel::loop(std::size_t{0}, rows, [&](std::size_t r) {
    first[r + 1] = std::ranges::count_if(nearest.of(static_cast<std::int64_t>(r)),
                                         [&](const Neighbour& n) { return tells(r, n); });
  });
  for (std::size_t r = 0; r < rows; ++r) first[r + 1] += first[r];
  std::vector<WeightedEdge> edges(static_cast<std::size_t>(first[rows]));
  parallel::loop(std::size_t{0}, rows, [&](std::size_t r) {
    auto at = static_cast<std::size_t>(first[r]);
    for (const Neighbour& n : nearest.of(static_cast<std::int64_t>(r)))
      if (tells(r, n)) edges[at++] = {n.similarity, static_cast<std::int32_t>(r), n.row};
  });
  return edges;
}

}  // namespace sptile::reorder
