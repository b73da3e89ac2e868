#include "reorder/wjaccard.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>

#include "reorder/nearest_rows.hpp"
#include "reorder/neighbour_edges.hpp"
#include "reorder/path_refinement.hpp"
#include "reorder/spanning_forest.hpp"
#include "reorder/weighted_jaccard.hpp"

namespace sptile::reorder {
namespace {

using formats::CsrView;
using Order = std::vector<std::int32_t>;

/// The similarity of u as r knows it; 0 when u is not among its nearest rows.
float similarity_to(const NearestRows& nearest, std::int64_t r, std::int64_t u) {
  for (const Neighbour& n : nearest.of(r))
    if (n.row == u) return n.similarity;
  return 0;
}

/// Rows with a neighbour, rows without, rows without entries; gives the number of the first.
std::size_t sort_by_kind(const CsrView& a, const std::vector<WeightedEdge>& forest, Order& roots) {
  std::vector<char> kind(static_cast<std::size_t>(a.rows), 1);
  for (const WeightedEdge& e : forest)
    kind[static_cast<std::size_t>(e.a)] = kind[static_cast<std::size_t>(e.b)] = 0;
  for (std::int64_t r = 0; r < a.rows; ++r)
    if (a.row_nnz(r) == 0) kind[static_cast<std::size_t>(r)] = 2;
  std::size_t connected = 0;
  for (char wanted = 0; wanted < 3; ++wanted) {
    for (std::int64_t r = 0; r < a.rows; ++r)
      if (kind[static_cast<std::size_t>(r)] == wanted) roots.push_back(static_cast<std::int32_t>(r));
    if (wanted == 0) connected = roots.size();
  }
  return connected;
}

/// Moves the rows of `order` that are `factor` times less similar to the rows before and after them than to
/// their nearest row, next to the nearest one that stays.
void move_isolated(const NearestRows& nearest, double factor, std::span<std::int32_t> order,
                   std::int64_t rows) {
  std::vector<char> isolated(static_cast<std::size_t>(rows));
  tbb::parallel_for(std::size_t{0}, order.size(), [&](std::size_t i) {
    const std::int32_t r = order[i];
    if (nearest.of(r).empty()) return;
    float here = 0;
    for (const std::size_t j : {i - 1, i + 1})
      if (j < order.size())
        here = std::max({here, similarity_to(nearest, r, order[j]), similarity_to(nearest, order[j], r)});
    isolated[static_cast<std::size_t>(r)] =
        static_cast<double>(here) * factor < static_cast<double>(nearest.of(r).front().similarity);
  });
  // Guests of a row stand behind it, as a list through `next`.
  Order guests(static_cast<std::size_t>(rows), -1), next(static_cast<std::size_t>(rows), -1);
  for (const std::int32_t r : order) {
    if (isolated[static_cast<std::size_t>(r)] == 0) continue;
    const auto near = nearest.of(r);
    const auto host = std::ranges::find_if(
        near, [&](const Neighbour& n) { return isolated[static_cast<std::size_t>(n.row)] == 0; });
    if (host == near.end()) {
      isolated[static_cast<std::size_t>(r)] = 0;
      continue;
    }
    next[static_cast<std::size_t>(r)] = std::exchange(guests[static_cast<std::size_t>(host->row)], r);
  }
  Order moved;
  moved.reserve(order.size());
  for (const std::int32_t r : order) {
    if (isolated[static_cast<std::size_t>(r)] != 0) continue;
    moved.push_back(r);
    for (std::int32_t guest = guests[static_cast<std::size_t>(r)]; guest >= 0;
         guest = next[static_cast<std::size_t>(guest)])
      moved.push_back(guest);
  }
  std::ranges::copy(moved, order.begin());
}

}  // namespace

Result<Order> order_by_weighted_jaccard(const CsrView& a, const ReorderOptions& options) {
  const auto value = [&](std::string_view name) { return setting(options, kWJaccardParameters, name); };
  const auto whole = [&](std::string_view name) { return static_cast<int>(value(name)); };
  const JaccardWeights weights = jaccard_weights(a, value("alpha"));
  const Result<NearestRows> nearest =
      nearest_rows(a, weights, {whole("neighbours"), whole("list-rows"), whole("visits"), options.progress});
  if (!nearest) return tl::unexpected(nearest.error());

  begin(options.progress, "spanning forest", 0);
  const std::vector<WeightedEdge> forest = maximum_spanning_forest(a.rows, edges_of(*nearest));
  if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
  Order roots;
  const std::size_t connected = sort_by_kind(a, forest, roots);
  Order order = walk_depth_first(forest, roots).order;

  begin(options.progress, "2-opt", a.rows);
  const std::span<std::int32_t> path(order.data(), connected);
  if (const int stretch = whole("stretch"); stretch > 0)
    refine_path(a, weights, path, stretch, options.progress);
  if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
  if (const double factor = value("isolation"); factor > 0) move_isolated(*nearest, factor, path, a.rows);
  return order;
}

}  // namespace sptile::reorder
