#include "formats/convert/rs_tile_partition.hpp"

#include <array>
#include <cassert>

#include "formats/convert/window_increments.hpp"
#include "formats/core/parallel_loop.hpp"

namespace sptile::formats {
namespace {

bool is_residual(std::int64_t entries, int increment, int tau_nnz, IncrementRule rule, int tau_inc) {
  if (rule == IncrementRule::none || entries > tau_nnz) return false;
  return rule == IncrementRule::small ? increment < tau_inc : increment >= tau_inc;
}

/// Algorithm 1: scans the rows once, skips empty ones, and calls on_residual(row) or on_window(first row).
template <class OnResidual, class OnWindow>
void scan(const CsrView& a, const Buffer<std::uint8_t>& increment, int tau_nnz, IncrementRule rule,
          int tau_inc, const OnResidual& on_residual, const OnWindow& on_window) {
  for (std::int64_t r = 0; r < a.rows;) {
    const std::int64_t entries = a.row_nnz(r);
    if (entries == 0) {
      ++r;
    } else if (tau_nnz > 0 && is_residual(entries, increment[r], tau_nnz, rule, tau_inc)) {
      on_residual(r);
      ++r;
    } else {
      on_window(r);
      r += 8;
    }
  }
}

RuleOutcome evaluate(const CsrView& a, const WindowIncrements& known, int tau_nnz, IncrementRule rule,
                     int tau_inc) {
  RuleOutcome outcome{rule, tau_inc, 0, 0};
  scan(
      a, known.increment, tau_nnz, rule, tau_inc,
      [&](std::int64_t r) { outcome.residual_entries += a.row_nnz(r); },
      [&](std::int64_t r) { outcome.tc_blocks += (known.columns[r] + 7) / 8; });
  return outcome;
}

/// Selects the rule and its tau_inc.
RuleChoice try_rules(const CsrView& a, const WindowIncrements& known, int tau_nnz,
                     const RsTileSetting& setting) {
  std::vector<RuleOutcome> tried = rules_to_try(tau_nnz, setting);
  parallel::loop(std::size_t{0}, tried.size(), [&](std::size_t i) {
    tried[i] = evaluate(a, known, tau_nnz, tried[i].rule, tried[i].tau_inc);
  });
  return choose_rule(tried, setting);
}

}  // namespace

int estimate_tau_nnz(const CsrView& a) {
  std::array<std::int64_t, kLargestTauNnz + 1> entries_in_rows_of{};
  for (std::int64_t r = 0; r < a.rows; ++r)
    if (const std::int64_t entries = a.row_nnz(r); entries <= kLargestTauNnz)
      entries_in_rows_of[static_cast<std::size_t>(entries)] += entries;
  return tau_nnz_of(entries_in_rows_of, a.nnz());
}

RowPartition partition_rows(const CsrView& a, const RsTileSetting& setting) {
  RowPartition partition;
  const std::optional<int> tau_nnz = setting.tau_nnz_for(a.cols);
  partition.tau_nnz = tau_nnz ? *tau_nnz : estimate_tau_nnz(a);
  WindowIncrements known;
  if (partition.tau_nnz > 0) {
    known = window_increments(a);
    static_cast<RuleChoice&>(partition) = try_rules(a, known, partition.tau_nnz, setting);
  }
  scan(
      a, known.increment, partition.tau_nnz, partition.chosen, partition.outcome().tau_inc,
      [&](std::int64_t r) { partition.residual_rows.push_back(static_cast<std::int32_t>(r)); },
      [&](std::int64_t r) { partition.windows.push_back(static_cast<std::int32_t>(r)); });
  return partition;
}

void RowPartition::set_tc_blocks(std::int64_t tc_blocks) {
  assert(tau_nnz == 0 || outcome().tc_blocks == tc_blocks);
  if (tau_nnz > 0) return;
  RuleChoice::set_tc_blocks(tc_blocks);
}

Parameters RowPartition::parameters() const { return rule_parameters(tau_nnz, *this); }

}  // namespace sptile::formats
