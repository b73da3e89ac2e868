#include "reorder/methods/pack.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "formats/core/count_columns.hpp"
#include "formats/core/parallel_loop.hpp"
#include "reorder/methods/degree.hpp"
#include "reorder/methods/identity.hpp"
#include "reorder/packing/frequent_first.hpp"
#include "reorder/packing/greedy_windows.hpp"
#include "reorder/packing/matching.hpp"
#include "reorder/packing/swaps.hpp"
#include "reorder/packing/window_pair.hpp"
#include "reorder/quality/quality.hpp"

namespace sptile::reorder {
namespace {

constexpr int kSmallWindow = 8;    // height of windows before matching
constexpr int kFarRows = 1 << 16;  // rows in a stretch whose columns an L2 cache may hold

/// Parameters and values derived from the shape.
struct Plan {
  int height;         // requested window height
  int greedy_height;  // height of greedily packed windows
  bool from_rows;     // matching starts with single rows
  int degree_base;    // kByDegree, kWhereHubs, or 0 for the original order
  std::int64_t match_rows;
  int swap_passes;
  GreedyOptions greedy;
  PartnerOptions match_partners, swap_partners;
};

Plan make_plan(const ReorderOptions& options) {
  const auto number = [&](std::string_view name) { return setting(options, kPackParameters, name); };
  Plan plan{};
  plan.height = std::max(1, options.window_rows);
  plan.match_rows = static_cast<std::int64_t>(number("match-rows"));
  plan.swap_passes = static_cast<int>(number("swap-passes"));
  // Matching doubles heights, so it reaches only powers of two.
  const bool doubles = std::has_single_bit(static_cast<unsigned>(plan.height));
  plan.from_rows = number("match-from-rows") != 0 && doubles;
  plan.degree_base = static_cast<int>(number("degree-base"));
  plan.greedy_height =
      doubles && plan.match_rows >= plan.height ? std::min(plan.height, kSmallWindow) : plan.height;
  plan.greedy = {
      {plan.greedy_height, static_cast<int>(number("longest-list")), static_cast<int>(number("lookups"))},
      options.progress};
  plan.match_partners = {static_cast<int>(number("match-partners")), static_cast<int>(number("match-list")),
                         16384, options.progress};
  plan.swap_partners = plan.match_partners;
  plan.swap_partners.partners = static_cast<int>(number("swap-partners"));
  return plan;
}

bool has_hubs(const formats::CsrView& a, std::span<const std::int32_t> count, int longest) {
  std::int64_t in_hubs = 0;
  for (const std::int32_t entries : count)
    if (entries > longest) in_hubs += entries;
  return packing::has_hubs(in_hubs, a.nnz());
}

/// A matrix, and a copy for steps that do not need ascending columns: if there are hubs, with frequent
/// columns first.
struct Matrix {
  const formats::CsrView& a;
  bool hubs = false;
  formats::Buffer<std::int32_t> columns = {};  // storage of `unsorted` if there are hubs
  formats::CsrView unsorted = a;
};

Matrix look_for_hubs(const formats::CsrView& a, int longest) {
  const std::vector<std::int32_t> count = formats::count_columns(a);
  Matrix matrix{a, has_hubs(a, count, longest)};
  if (!matrix.hubs) return matrix;
  matrix.columns = frequent_first(a, count);
  matrix.unsorted.col_idx = matrix.columns.span();
  return matrix;
}

Result<std::vector<std::int32_t>> pack_rows(const Matrix& matrix, std::span<const std::int32_t> base,
                                            const Plan& plan) {
  auto places = pack_greedily(sets_of_rows(matrix.unsorted, base), plan.greedy);
  if (places)
    for (std::int32_t& place : *places) place = base[static_cast<std::size_t>(place)];
  return places;
}

/// Packs windows, swaps rows, and matches windows into taller ones; `base` contains the nonempty rows.
Result<std::vector<std::int32_t>> pack(const Matrix& matrix, std::span<const std::int32_t> base,
                                       const Plan& plan) {
  const formats::CsrView& a = matrix.a;
  const auto match = [&](std::span<const std::int32_t> order, int from, std::int64_t to) {
    return match_upwards(a, order, {from, to, 10, plan.match_partners});
  };
  int height = plan.from_rows ? plan.height : plan.greedy_height;
  auto order = plan.from_rows ? match(base, 1, height) : pack_rows(matrix, base, plan);
  // Swaps between small windows come first: they make rows similar that stay together in taller windows.
  while (order && plan.swap_passes > 0 && plan.height <= kTallestPair) {
    if (const Status swapped = swap_rows(a, *order, {height, plan.swap_passes, plan.swap_partners}); !swapped)
      return tl::unexpected(swapped.error());
    if (height == plan.height) break;
    order = match(*order, height, 2 * height);
    height *= 2;
  }
  if (order && 2 * height <= plan.match_rows) order = match(*order, height, plan.match_rows);
  return order;
}

/// Returns the rows of the tallest matched windows; 1 if there are none.
std::int64_t matched_rows(const Plan& plan) {
  std::int64_t rows = 1;
  for (std::int64_t tall = 2 * std::int64_t{plan.height}; tall <= plan.match_rows; tall *= 2) rows = tall;
  return rows;
}

/// Sorts groups of `group` consecutive rows by their median row; an incomplete group stays last.
std::vector<std::int32_t> by_median(std::span<const std::int32_t> order, std::int64_t group) {
  const std::int64_t groups = std::ssize(order) / group;
  const auto rows_of = [&](std::int64_t g) {
    return order.subspan(static_cast<std::size_t>(g * group), static_cast<std::size_t>(group));
  };
  std::vector<std::pair<std::int32_t, std::int64_t>> medians(static_cast<std::size_t>(groups));
  parallel::loop(std::int64_t{0}, groups, [&](std::int64_t g) {
    std::vector<std::int32_t> rows(rows_of(g).begin(), rows_of(g).end());
    const auto middle = rows.begin() + group / 2;
    std::nth_element(rows.begin(), middle, rows.end());
    medians[static_cast<std::size_t>(g)] = {*middle, g};
  });
  std::sort(medians.begin(), medians.end());
  std::vector<std::int32_t> sorted;
  sorted.reserve(order.size());
  for (const auto& [median, g] : medians) sorted.insert(sorted.end(), rows_of(g).begin(), rows_of(g).end());
  const auto rest = order.subspan(sorted.size());
  sorted.insert(sorted.end(), rest.begin(), rest.end());
  return sorted;
}

/// Matching leaves the tallest windows in an arbitrary order. Sorts them by the original order if long
/// stretches of rows then have fewer columns. The first `filled` rows are nonempty.
void follow_given_order(const formats::CsrView& a, std::vector<std::int32_t>& order, std::ptrdiff_t filled,
                        std::int64_t group) {
  if (group == 1 || std::ssize(order) <= kFarRows) return;
  const auto rest = order.begin() + filled;
  std::vector<std::int32_t> sorted = by_median({order.begin(), rest}, group);
  sorted.insert(sorted.end(), rest, order.end());
  const auto columns = [&](std::span<const std::int32_t> rows) {
    return measure_windows(a, rows, kFarRows).distinct_columns;
  };
  if (columns(sorted) < columns(order)) order = std::move(sorted);
}

/// Returns whether `x` has no more blocks than `y`, both at `height` and at twice `height`.
bool as_dense(const formats::CsrView& a, std::span<const std::int32_t> x, std::span<const std::int32_t> y,
              int height) {
  const BlockCounts of_x = count_blocks(a, x, height), of_y = count_blocks(a, y, height);
  return of_x.blocks <= of_y.blocks && of_x.twice <= of_y.twice;
}

}  // namespace

Result<std::vector<std::int32_t>> order_by_packing(const formats::CsrView& a, const ReorderOptions& options) {
  const Plan plan = make_plan(options);
  const Matrix matrix = look_for_hubs(a, plan.greedy.rules.longest_list);
  const bool by_degree = packing::starts_by_degree(plan.degree_base, matrix.hubs);
  auto base = by_degree ? order_by_degree(a, options) : order_identity(a, options);
  if (!base) return base;
  const auto rest =
      std::stable_partition(base->begin(), base->end(), [&](std::int32_t r) { return a.row_nnz(r) > 0; });
  auto order = pack(matrix, {base->begin(), rest}, plan);
  if (!order) return order;
  const auto filled = std::ssize(*order);
  order->insert(order->end(), rest, base->end());
  if (!by_degree) follow_given_order(a, *order, filled, matched_rows(plan));
  if (!matrix.hubs) return order;
  auto degrees = by_degree ? std::move(base) : order_by_degree(a, options);
  return !degrees || as_dense(matrix.unsorted, *order, *degrees, plan.height) ? order : degrees;
}

}  // namespace sptile::reorder
