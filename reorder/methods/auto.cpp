#include "reorder/methods/auto.hpp"

#include <algorithm>
#include <utility>

#include "reorder/methods/degree.hpp"
#include "reorder/methods/identity.hpp"
#include "reorder/methods/pack.hpp"
#include "reorder/quality/quality.hpp"

namespace sptile::reorder {
namespace {

constexpr Setting kFromGiven[] = {{"swap-passes", 0}, {"match-rows", 1}, {"degree-base", 0}};
constexpr Setting kFromDegree[] = {{"swap-passes", 0}, {"match-rows", 1}, {"degree-base", 1}};

struct Trial {
  std::string_view name;
  Result<std::vector<std::int32_t>> (*run)(const formats::CsrView&, const ReorderOptions&);
  std::span<const Setting> settings;
};

constexpr Trial kTrials[] = {
    {"the original order", order_identity, {}},
    {"degree order", order_by_degree, {}},
    {"greedy windows", order_by_packing, kFromGiven},
    {"greedy windows from degree order", order_by_packing, kFromDegree},
};

}  // namespace

Result<std::vector<std::int32_t>> order_by_trial(const formats::CsrView& a, const ReorderOptions& options) {
  const int height = std::max(1, options.window_rows);
  std::vector<std::int32_t> best;
  std::pair<std::int64_t, std::int64_t> fewest;
  std::vector<TriedOrder> tried;
  for (const Trial& trial : kTrials) {
    ReorderOptions asked = options;
    asked.settings = trial.settings;
    auto order = trial.run(a, asked);
    if (!order) return order;
    if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
    const WindowQuality quality = measure_windows(a, *order, height);
    const std::pair found{quality.tc_blocks, quality.distinct_columns};
    tried.push_back({trial.name, quality.tc_blocks});
    if (&trial != kTrials && found >= fewest) continue;
    best = std::move(*order), fewest = found;
    for (TriedOrder& other : tried) other.chosen = &other == &tried.back();
  }
  if (options.tried != nullptr) *options.tried = std::move(tried);
  return best;
}

}  // namespace sptile::reorder
