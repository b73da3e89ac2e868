#include "formats/layout/rs_tile_rules.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>

namespace sptile::formats {
namespace {

bool better(const RuleOutcome& x, const RuleOutcome& y) {
  return std::tuple(x.b_rows(), x.tc_blocks) < std::tuple(y.b_rows(), y.tc_blocks);
}

/// Returns the number of a field, if it has one.
std::optional<int> number_of(const ParameterField& field, int parameter) {
  return field.is_number(parameter) ? std::optional(field.number(parameter)) : std::nullopt;
}

}  // namespace

RsTileSetting rs_tile_setting(int parameter) {
  const auto& [rule, tau_nnz, tau_inc, split] = kRsTileFields;
  RsTileSetting setting;
  if (const int code = rule.code(parameter); code != 0) setting.rule = static_cast<IncrementRule>(code - 1);
  setting.tau_nnz = number_of(tau_nnz, parameter);
  setting.tau_inc = number_of(tau_inc, parameter);
  setting.split = number_of(split, parameter);
  if (split.code(parameter) == 1) setting.split = std::numeric_limits<std::int32_t>::max();
  return setting;
}

std::vector<RuleOutcome> rules_to_try(int tau_nnz, const RsTileSetting& setting) {
  std::vector<RuleOutcome> rules{{IncrementRule::none, 0, 0, 0}};
  if (tau_nnz == 0) return rules;
  for (int tau_inc = setting.tau_inc.value_or(1); tau_inc <= setting.tau_inc.value_or(tau_nnz + 1); ++tau_inc)
    for (const IncrementRule rule : {IncrementRule::small, IncrementRule::large})
      rules.push_back({rule, tau_inc, 0, 0});
  return rules;
}

void RuleChoice::set_tc_blocks(std::int64_t tc_blocks) {
  for (std::size_t rule = 0; rule < outcomes.size(); ++rule)
    outcomes[rule] = {static_cast<IncrementRule>(rule), 0, tc_blocks, 0};
}

RuleChoice choose_rule(std::span<const RuleOutcome> tried, const RsTileSetting& setting) {
  RuleChoice choice;
  for (std::size_t i = 0; i < tried.size(); ++i) {
    RuleOutcome& best = choice.outcomes[static_cast<std::size_t>(tried[i].rule)];
    if (i < choice.outcomes.size() || better(tried[i], best)) best = tried[i];
  }
  if (tried.size() == 1) return choice;
  choice.chosen = setting.rule.value_or(IncrementRule::none);
  if (setting.rule) return choice;
  for (const RuleOutcome& outcome : choice.outcomes)
    if (better(outcome, choice.outcome())) choice.chosen = outcome.rule;
  return choice;
}

int tau_nnz_of(std::span<const std::int64_t, kLargestTauNnz + 1> entries_in_rows_of, std::int64_t nnz) {
  std::int64_t short_entries = 0;
  for (int tau = 1; tau <= kLargestTauNnz; ++tau) {
    short_entries += entries_in_rows_of[static_cast<std::size_t>(tau)];
    if (short_entries > nnz / 2) return tau - 1;
  }
  return short_entries == 0 ? 0 : kLargestTauNnz;
}

Parameters rule_parameters(int tau_nnz, const RuleChoice& choice) {
  Parameters list{{"window_rows", std::int64_t{8}},
                  {"rule", std::string(kIncrementRuleNames[static_cast<std::size_t>(choice.chosen)])},
                  {"tau_nnz", std::int64_t{tau_nnz}},
                  {"tau_inc", std::int64_t{choice.outcome().tau_inc}}};
  for (const RuleOutcome& outcome : choice.outcomes) {
    const std::string name(kIncrementRuleNames[static_cast<std::size_t>(outcome.rule)]);
    if (outcome.rule != IncrementRule::none)
      list.emplace_back(name + "_tau_inc", std::int64_t{outcome.tau_inc});
    list.emplace_back(name + "_tc_blocks", outcome.tc_blocks);
    list.emplace_back(name + "_residual_entries", outcome.residual_entries);
  }
  return list;
}

std::int64_t split_limit(std::int64_t tiles, std::int64_t windows, const RsTileSetting& setting) {
  if (setting.split) return *setting.split;
  const std::int64_t mean = (tiles + windows - 1) / std::max<std::int64_t>(windows, 1);
  return std::max({std::int64_t{32}, 8 * mean, tiles / 1024});
}

Parameters split_parameters(std::int64_t limit, std::int64_t split, std::int64_t pieces) {
  return {{"split_limit", limit}, {"split_windows", split}, {"split_pieces", pieces}};
}

}  // namespace sptile::formats
