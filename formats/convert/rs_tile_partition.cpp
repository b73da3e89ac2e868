#include "formats/convert/rs_tile_partition.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cassert>
#include <string>
#include <tuple>

#include "formats/convert/window_increments.hpp"

namespace sptile::formats {
namespace {

constexpr int kLargestTauNnz = 4;

bool is_residual(std::int64_t entries, int increment, int tau_nnz, IncrementRule rule, int tau_inc) {
  if (rule == IncrementRule::none || entries > tau_nnz) return false;
  return rule == IncrementRule::small ? increment < tau_inc : increment >= tau_inc;
}

/// Algorithm 1: skips empty rows, and calls on_residual(row) or on_window(first row), window rows in one go.
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

bool better(const RuleOutcome& x, const RuleOutcome& y) {
  return std::tuple(x.b_rows(), x.tc_blocks) < std::tuple(y.b_rows(), y.tc_blocks);
}

/// Fills the outcomes: the best tau_inc of each rule.
void try_rules(const CsrView& a, const WindowIncrements& known, RowPartition& partition) {
  const int thresholds = partition.tau_nnz + 1;
  std::vector<RuleOutcome> tried(1 + 2 * static_cast<std::size_t>(thresholds));
  tbb::parallel_for(std::size_t{0}, tried.size(), [&](std::size_t i) {
    const auto rule = static_cast<IncrementRule>(i == 0 ? 0 : 1 + (i - 1) % 2);
    tried[i] = evaluate(a, known, partition.tau_nnz, rule, static_cast<int>(i + 1) / 2);
  });
  for (std::size_t i = 0; i < tried.size(); ++i) {
    RuleOutcome& best = partition.outcomes[static_cast<std::size_t>(tried[i].rule)];
    if (i < partition.outcomes.size() || better(tried[i], best)) best = tried[i];
  }
  for (const RuleOutcome& outcome : partition.outcomes)
    if (better(outcome, partition.outcome())) partition.chosen = outcome.rule;
}

}  // namespace

int estimate_tau_nnz(const CsrView& a) {
  std::int64_t entries_in_rows_of[kLargestTauNnz + 1] = {};
  for (std::int64_t r = 0; r < a.rows; ++r)
    if (const std::int64_t entries = a.row_nnz(r); entries <= kLargestTauNnz)
      entries_in_rows_of[entries] += entries;
  std::int64_t short_entries = 0;
  for (int tau = 1; tau <= kLargestTauNnz; ++tau) {
    short_entries += entries_in_rows_of[tau];
    if (short_entries > a.nnz() / 2) return tau - 1;
  }
  return short_entries == 0 ? 0 : kLargestTauNnz;
}

RowPartition partition_rows(const CsrView& a) {
  RowPartition partition;
  partition.tau_nnz = estimate_tau_nnz(a);
  WindowIncrements known;
  if (partition.tau_nnz > 0) {
    known = window_increments(a);
    try_rules(a, known, partition);
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
  for (std::size_t rule = 0; rule < outcomes.size(); ++rule)
    outcomes[rule] = {static_cast<IncrementRule>(rule), 0, tc_blocks, 0};
}

Parameters RowPartition::parameters() const {
  Parameters list{{"window_rows", std::int64_t{8}},
                  {"rule", std::string(kIncrementRuleNames[static_cast<std::size_t>(chosen)])},
                  {"tau_nnz", std::int64_t{tau_nnz}},
                  {"tau_inc", std::int64_t{outcome().tau_inc}}};
  for (const RuleOutcome& outcome : outcomes) {
    const std::string name(kIncrementRuleNames[static_cast<std::size_t>(outcome.rule)]);
    if (outcome.rule != IncrementRule::none)
      list.emplace_back(name + "_tau_inc", std::int64_t{outcome.tau_inc});
    list.emplace_back(name + "_tc_blocks", outcome.tc_blocks);
    list.emplace_back(name + "_residual_entries", outcome.residual_entries);
  }
  return list;
}

}  // namespace sptile::formats
