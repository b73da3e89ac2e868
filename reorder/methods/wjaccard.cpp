#include "reorder/methods/wjaccard.hpp"

#include <algorithm>
#include <utility>

#include "formats/core/parallel_loop.hpp"
#include "reorder/graph/spanning_forest.hpp"
#include "reorder/packing/path_refinement.hpp"
#include "reorder/similarity/nearest_rows.hpp"
#include "reorder/similarity/neighbour_edges.hpp"
#include "reorder/similarity/weighted_jaccard.hpp"

namespace sptile::reorder {
namespace {

using formats::CsrView;
using Order = std::vector<std::int32_t>;

/// Sorts `roots`: rows with neighbors, rows without, empty rows. Returns the number of the first kind.
std::size_t sort_by_kind(const CsrView& a, const std::vector<WeightedEdge>& forest, Order& roots) {
  std::vector<char> kind(static_cast<std::size_t>(a.rows), 1);
  for (const WeightedEdge& e : forest)
    kind[static_cast<std::size_t>(e.a)] = kind[static_cast<std::size_t>(e.b)] = 0;
  for (std::int64_t r = 0; r < a.rows; ++r)
    if (a.row_nnz(r) == 0) kind[static_cast<std::size_t>(r)] = 2;
  std::size_t connected = 0;
  for (char current = 0; current < 3; ++current) {
    for (std::int64_t r = 0; r < a.rows; ++r)
      if (kind[static_cast<std::size_t>(r)] == current) roots.push_back(static_cast<std::int32_t>(r));
    if (current == 0) connected = roots.size();
  }
  return connected;
}

/// Marks the rows of `order` whose similarity to the previous and next row is `factor` times lower than to
/// their nearest row.
std::vector<char> find_isolated(const CsrView& a, const JaccardWeights& weights, const NearestRows& nearest,
                                double factor, std::span<const std::int32_t> order) {
  std::vector<char> isolated(static_cast<std::size_t>(a.rows));
  parallel::loop(std::size_t{0}, order.size(), [&](std::size_t i) {
    const std::int32_t r = order[i];
    const auto near = nearest.of(r);
    if (near.empty()) return;
    const double enough = static_cast<double>(near.front().similarity) / factor;
    const auto fits = [&](std::size_t j) {
      return j < order.size() && static_cast<double>(similarity(a, weights, r, order[j])) >= enough;
    };
    isolated[static_cast<std::size_t>(r)] = !fits(i - 1) && !fits(i + 1);
  });
  return isolated;
}

/// Moves each isolated row after its nearest neighbor that is not isolated, to the tail of `order` if there
/// is none.
void move_isolated(const NearestRows& nearest, const std::vector<char>& isolated,
                   std::span<std::int32_t> order) {
  const auto is_isolated = [&](std::int32_t r) { return isolated[static_cast<std::size_t>(r)] != 0; };
  // The isolated rows to insert after a row form a list through `next`.
  Order guests(isolated.size(), -1), next(isolated.size(), -1), tail;
  for (const std::int32_t r : order) {
    if (!is_isolated(r)) continue;
    const auto near = nearest.of(r);
    const auto host = std::ranges::find_if_not(near, is_isolated, &Neighbour::row);
    if (host == near.end())
      tail.push_back(r);
    else
      next[static_cast<std::size_t>(r)] = std::exchange(guests[static_cast<std::size_t>(host->row)], r);
  }
  Order moved;
  moved.reserve(order.size());
  for (const std::int32_t r : order)
    if (!is_isolated(r))
      for (std::int32_t at = r; at >= 0;
           at = at == r ? guests[static_cast<std::size_t>(r)] : next[static_cast<std::size_t>(at)])
        moved.push_back(at);
  std::ranges::copy(tail, std::ranges::copy(moved, order.begin()).out);
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
  if (const double factor = value("isolation"); factor > 0)
    move_isolated(*nearest, find_isolated(a, weights, *nearest, factor, path), path);
  return order;
}

}  // namespace sptile::reorder
