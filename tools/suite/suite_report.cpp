#include "tools/suite/suite_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "tools/cli/json.hpp"
#include "tools/cli/table.hpp"
#include "tools/measure/bench_groups.hpp"
#include "tools/measure/bench_rows.hpp"
#include "tools/pipeline/names.hpp"

namespace sptile::tools {
namespace {

/// Times of one matrix and N, by variant; kCusparse and kFastestKnown have the minimum of several rows.
using Times = std::map<std::string_view, double>;

/// A speedup for each matrix.
struct Ratios {
  double log_sum = 0, max = 0;
  std::int64_t count = 0, above_one = 0;

  void add(double ratio) {
    log_sum += std::log(ratio);
    max = std::max(max, ratio);
    ++count;
    above_one += ratio > 1;
  }
  [[nodiscard]] Json mean() const {
    return count > 0 ? Json(std::exp(log_sum / static_cast<double>(count))) : Json(nullptr);
  }
};

bool is_row_of(const Experiment& experiment, const Json& row) {
  const auto names = row["experiment"].get<std::string>();
  const std::string list = " " + names + " ";
  return list.find(fmt::format(" {} ", experiment.name)) != std::string::npos;
}

void take_min(Times& times, std::string_view name, double us) {
  const auto [known, is_new] = times.try_emplace(name, us);
  if (!is_new) known->second = std::min(known->second, us);
}

void add_row(Times& times, const SuiteExperiment& experiment, const Json& row) {
  const double us = best_us(row);
  if (experiment.is_vendor_row(row)) return take_min(times, kCusparse, us);
  take_min(times, kFastestKnown, us);  // the kernels of the paper are among those of sptile
  for (const SuiteCase& one : experiment.cases)
    if (one.matches(row)) take_min(times, one.name, us);
}

// Returns the times by N and matrix.
std::map<std::int64_t, std::map<std::string, Times>> times_of(const SuiteExperiment& experiment,
                                                              const Json& rows) {
  std::map<std::int64_t, std::map<std::string, Times>> times;
  for (const Json& row : rows) {
    if (!is_row_of(*experiment.experiment, row) || is_noisy(row)) continue;
    const std::string matrix = fmt::format("{} {}", json_text(row["matrix"]), json_text(row["values"]));
    add_row(times[row["n"].get<std::int64_t>()][matrix], experiment, row);
  }
  return times;
}

std::optional<double> time_in(const Times& times, std::string_view name) {
  const auto found = times.find(name);
  return found == times.end() ? std::nullopt : std::optional<double>(found->second);
}

// Returns the minimum time of the other variants and of cuSPARSE.
std::optional<double> fastest_other(const Times& times, std::string_view name) {
  std::optional<double> best;
  for (const auto& [other, us] : times)
    if (other != name && other != kFastestKnown && (!best || us < *best)) best = us;
  return best;
}

Json line_of(const Experiment& experiment, std::string_view name, const std::vector<const Times*>& matrices) {
  Ratios over_baseline, over_other, over_known;
  std::int64_t measured = 0;
  for (const Times* times : matrices) {
    const auto us = time_in(*times, name);
    if (!us) continue;
    ++measured;
    if (const auto base = time_in(*times, experiment.baseline)) over_baseline.add(*base / *us);
    if (const auto other = fastest_other(*times, name)) over_other.add(*other / *us);
    over_known.add(*time_in(*times, kFastestKnown) / *us);
  }
  return {{"variant", name},
          {"matrices", measured},
          {"over_baseline", over_baseline.mean()},
          {"max_over_baseline", over_baseline.count > 0 ? Json(over_baseline.max) : Json(nullptr)},
          {"over_other", over_other.mean()},
          {"fastest", over_other.above_one},
          {"over_known", over_known.mean()}};
}

std::vector<std::string_view> lines_of(const SuiteExperiment& experiment) {
  std::vector<std::string_view> names;
  if (experiment.experiment->baseline == kCusparse) names.push_back(kCusparse);
  for (const SuiteCase& one : experiment.cases) names.push_back(one.name);
  names.push_back(kFastestKnown);
  return names;
}

// Returns what a variant measures; null for cuSPARSE and the fastest known kernel.
Json case_json(const SuiteExperiment& experiment, std::string_view name) {
  const auto found = std::ranges::find(experiment.cases, name, &SuiteCase::name);
  if (found == experiment.cases.end())
    return {{"format", nullptr}, {"kernel", nullptr}, {"reorder", nullptr}};
  return {{"format", found->format.label}, {"kernel", found->kernel}, {"reorder", found->ordering.label()}};
}

void add_lines(Json& lines, const SuiteExperiment& experiment, const Json& n,
               const std::vector<const Times*>& matrices) {
  for (const std::string_view name : lines_of(experiment)) {
    Json line = {{"n", n}};
    line.update(line_of(*experiment.experiment, name, matrices));
    line.update(case_json(experiment, name));
    lines.push_back(std::move(line));
  }
}

Json summary_of(const SuiteExperiment& experiment, const Json& rows) {
  const auto times = times_of(experiment, rows);
  Json lines = Json::array();
  std::vector<const Times*> all;
  for (const auto& [n, matrices] : times) {
    std::vector<const Times*> of_n;
    for (const auto& [matrix, one] : matrices) of_n.push_back(&one);
    add_lines(lines, experiment, n, of_n);
    all.insert(all.end(), of_n.begin(), of_n.end());
  }
  if (times.size() > 1) add_lines(lines, experiment, nullptr, all);
  return lines;
}

std::string times_text(const Json& value) {
  return value.is_null() ? "-" : fmt::format("{:.2f}", value.get<double>());
}

}  // namespace

Json summarize(const SuitePlan& plan, const Json& rows) {
  Json summary = Json::array();
  for (const SuiteExperiment& one : plan.experiments) {
    const Experiment& experiment = *one.experiment;
    summary.push_back({{"suite", plan.suite->name},
                       {"experiment", experiment.name},
                       {"title", experiment.title},
                       {"op", experiment.op},
                       {"precision", experiment.precision},
                       {"baseline", experiment.baseline},
                       {"random_values", one.needs_values},
                       {"lines", summary_of(one, rows)}});
  }
  return summary;
}

std::string summary_text(const Json& summary) {
  std::string text;
  for (const Json& one : summary) {
    text += fmt::format("\n{} {}: {} ({}); baseline {}\n", one["suite"].get<std::string>(),
                        one["experiment"].get<std::string>(), one["title"].get<std::string>(),
                        one["precision"].get<std::string>(), one["baseline"].get<std::string>());
    if (one["random_values"] == true)
      text += "patterns have random values, as a kernel has no instance for patterns\n";
    if (one["lines"].empty()) {
      text += "not measured\n";
      continue;
    }
    std::vector<std::vector<std::string>> table = {{"variant", "N", "matrices", "over baseline", "max",
                                                    "over fastest other", "fastest", "over fastest known"}};
    for (const Json& line : one["lines"])
      table.push_back({line["variant"].get<std::string>(), line["n"].is_null() ? "all" : json_text(line["n"]),
                       json_text(line["matrices"]), times_text(line["over_baseline"]),
                       times_text(line["max_over_baseline"]), times_text(line["over_other"]),
                       json_text(line["fastest"]), times_text(line["over_known"])});
    text += format_table(table, "lrrrrrrr");
  }
  return text;
}

Json to_json(std::span<const Missing> missing) {
  Json list = Json::array();
  for (const Missing& one : missing)
    list.push_back(
        {{"what", one.what}, {"name", one.name}, {"why", one.why}, {"experiments", one.experiments}});
  return list;
}

std::string missing_text(std::span<const Missing> missing) {
  std::string text;
  for (const Missing& one : missing) {
    text += fmt::format("missing {} {}: {}", one.what, one.name, one.why);
    if (!one.experiments.empty()) text += fmt::format(" ({})", fmt::join(one.experiments, ", "));
    text += "\n";
  }
  return text;
}

}  // namespace sptile::tools
