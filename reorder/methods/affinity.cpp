#include "reorder/methods/affinity.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>

#include "formats/core/parallel_loop.hpp"
#include "formats/core/per_thread.hpp"
#include "reorder/graph/communities.hpp"
#include "reorder/graph/graph.hpp"
#include "reorder/similarity/common_neighbours.hpp"

namespace sptile::reorder {
namespace {

constexpr std::int64_t kPoll = 1024;  // rows between checks for cancellation

/// Depth-first order of the nonempty rows, with the positions of columns and communities.
struct Base {
  std::vector<std::int32_t> order;         ///< rows, empty ones last
  std::vector<std::int32_t> column_place;  ///< position of each column
  std::vector<std::int32_t> community;     ///< by position of the row: first vertex of its community
};

Result<Base> depth_first_base(const formats::CsrView& a, Progress* progress) {
  const auto graph = graph_of(a);
  if (!graph) return tl::unexpected(graph.error());
  const auto tree = merge_communities(*graph, progress);
  if (!tree) return tl::unexpected(tree.error());
  const std::vector<std::int32_t> vertices = depth_first(*tree);
  Base base{rows_of(a, vertices), std::vector<std::int32_t>(static_cast<std::size_t>(a.cols)), {}};
  const std::int64_t first_column = a.rows == a.cols ? 0 : a.rows;
  std::int32_t columns = 0, root = 0;
  for (const std::int32_t v : vertices) {
    if (v >= first_column) base.column_place[static_cast<std::size_t>(v - first_column)] = columns++;
    if (tree->parent[v] == v) root = v;
    if (v < a.rows && a.row_nnz(v) > 0) base.community.push_back(root);
  }
  return base;
}

class Chain {
 public:
  Chain(const PlacedMatrix& matrix, const std::vector<std::int32_t>& community, bool within,
        std::int64_t partners)
      : matrix_(matrix),
        community_(community),
        within_(within),
        max_(static_cast<std::size_t>(partners)),
        rows_(static_cast<std::int64_t>(community.size())),
        partners_(rows_ * partners),
        taken_(community.size(), false),
        counters_([&] { return CommonNeighbours(matrix_); }) {}

  /// Finds the partners of all rows; returns false when cancelled.
  bool find_partners(Progress* progress) {
    begin(progress, "find common neighbours", rows_);
    parallel::loop(tbb::blocked_range<std::int64_t>(0, rows_, kPoll), [&](const auto& range) {
      if (cancelled(progress)) return;
      CommonNeighbours& counter = counters_.local();
      for (std::int64_t row = range.begin(); row < range.end(); ++row) {
        const std::span<std::int32_t> best = partners_of(row);
        const auto allowed = [&](std::int32_t other) { return may_follow(row, other); };
        const std::size_t found = counter.find(static_cast<std::int32_t>(row), best, allowed);
        std::fill(best.begin() + static_cast<std::ptrdiff_t>(found), best.end(), -1);
      }
      advance(progress, range.end() - range.begin());
    });
    return !cancelled(progress);
  }

  /// Visits all rows; returns an empty order when cancelled.
  std::vector<std::int32_t> walk(Progress* progress) {
    begin(progress, "chain rows", rows_);
    std::vector<std::int32_t> order;
    order.reserve(static_cast<std::size_t>(rows_));
    std::int64_t row = -1;
    for (std::int64_t first = 0; static_cast<std::int64_t>(order.size()) < rows_; row = next(row)) {
      if (row < 0) {
        while (taken_[static_cast<std::size_t>(first)]) ++first;
        row = first;
      }
      taken_[static_cast<std::size_t>(row)] = true;
      order.push_back(static_cast<std::int32_t>(row));
      if (static_cast<std::int64_t>(order.size()) % kPoll != 0) continue;
      if (cancelled(progress)) return {};
      advance(progress, kPoll);
    }
    return order;
  }

 private:
  std::span<std::int32_t> partners_of(std::int64_t row) {
    return {partners_.data() + row * static_cast<std::int64_t>(max_), max_};
  }

  [[nodiscard]] bool may_follow(std::int64_t row, std::int64_t other) const {
    return !within_ ||
           community_[static_cast<std::size_t>(row)] == community_[static_cast<std::size_t>(other)];
  }

  /// Returns the free row that shares the most columns with `row`; -1 if no free row shares any.
  std::int64_t next(std::int64_t row) {
    const auto free = [&](std::int32_t other) { return !taken_[static_cast<std::size_t>(other)]; };
    const std::span<const std::int32_t> known = partners_of(row);
    for (const std::int32_t other : known) {
      if (other < 0) return -1;
      if (free(other)) return other;
    }
    std::int32_t best = -1;
    counters_.local().find(static_cast<std::int32_t>(row), {&best, 1},
                           [&](std::int32_t other) { return free(other) && may_follow(row, other); });
    return best;
  }

  const PlacedMatrix& matrix_;
  const std::vector<std::int32_t>& community_;
  bool within_;
  std::size_t max_;
  std::int64_t rows_;
  formats::Buffer<std::int32_t> partners_;
  std::vector<bool> taken_;
  parallel::PerThread<CommonNeighbours> counters_;
};

}  // namespace

Result<std::vector<std::int32_t>> order_by_affinity(const formats::CsrView& a,
                                                    const ReorderOptions& options) {
  const auto base = depth_first_base(a, options.progress);
  if (!base) return tl::unexpected(base.error());
  const PlacedMatrix matrix = place(a, base->order, base->column_place);
  Chain chain(matrix, base->community, setting(options, kAffinityParameters, "within") != 0,
              static_cast<std::int64_t>(setting(options, kAffinityParameters, "partners")));
  if (!chain.find_partners(options.progress)) return fail(Errc::io, "cancelled");
  std::vector<std::int32_t> order = chain.walk(options.progress);
  if (order.size() != base->community.size()) return fail(Errc::io, "cancelled");
  for (auto r = static_cast<std::int64_t>(order.size()); r < a.rows; ++r)
    order.push_back(static_cast<std::int32_t>(r));
  for (std::int32_t& row : order) row = base->order[static_cast<std::size_t>(row)];
  return order;
}

}  // namespace sptile::reorder
