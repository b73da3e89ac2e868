#include "tools/calibrate/report.hpp"

#include <fmt/format.h>

#include <vector>

#include "tools/cli/json.hpp"
#include "tools/cli/table.hpp"

namespace sptile::tools {
namespace {
// Columns of --samples before the features.
constexpr const char* kSampleColumns = "matrix,op,dense,format,kernel,precision,n,us";

// Returns a percentage; 100 for no windows.
double percent(const SelectorScore& score) {
  return score.windows > 0 ? 100 * static_cast<double>(score.right) / static_cast<double>(score.windows)
                           : 100;
}
}  // namespace

std::string samples_csv(std::span<const Sample> samples) {
  std::string text = kSampleColumns;
  for (const runtime::FeatureInfo& feature : runtime::kFeatures) text += fmt::format(",{}", feature.name);
  text += '\n';
  for (const Sample& s : samples) {
    text += fmt::format("{},{},{},{},{},{},{},{:.3f}", s.matrix, s.op, s.dense, s.format, s.kernel,
                        s.precision, s.n, s.us);
    for (const double feature : s.features) text += fmt::format(",{:.9g}", feature);
    text += '\n';
  }
  return text;
}

std::string quality_text(std::span<const FitQuality> fits, const ChoiceQuality& choice) {
  std::vector<std::vector<std::string>> table = {
      {"kernel", "products", "samples", "median error", "predicted / measured"}};
  for (const FitQuality& fit : fits)
    table.push_back({fit.kernel, fit.precision, std::to_string(fit.samples),
                     fmt::format("{:.0f}%", 100 * fit.median_error),
                     fmt::format("{:.2f} to {:.2f}", fit.lowest, fit.highest)});
  std::string text = format_table(table, "llrrr");
  text += fmt::format(
      "predicted format: within 5 % of the best in {:.0f} % of {} cases, within 10 % in {:.0f} %, {:.1f} % "
      "slower on average\n",
      100 * choice.within_5, choice.cases, 100 * choice.within_10, 100 * (choice.mean_regret - 1));
  if (!choice.worst_case.empty())
    text += fmt::format("worst case: {:.2f}x the time of the best ({})\n", choice.worst_regret,
                        choice.worst_case);
  return text;
}

Json quality_json(std::span<const FitQuality> fits, const ChoiceQuality& choice) {
  Json json;
  json["fits"] = Json::array();
  for (const FitQuality& fit : fits)
    json["fits"].push_back({{"kernel", fit.kernel},
                            {"precision", fit.precision},
                            {"samples", fit.samples},
                            {"median_error", fit.median_error},
                            {"lowest_ratio", fit.lowest},
                            {"highest_ratio", fit.highest}});
  json["choice"] = {{"cases", choice.cases},
                    {"within_5_percent", choice.within_5},
                    {"within_10_percent", choice.within_10},
                    {"mean_regret", choice.mean_regret},
                    {"worst_regret", choice.worst_regret},
                    {"worst_case", choice.worst_case}};
  return json;
}

std::string linear_cost_text(const LinearCost& fit) {
  return fmt::format(
      "linear cost of {}, {}: {:.4g} us per million tiles, {:.4g} us per million windows, {:.4g} us per "
      "launch; R2 {:.3f} for {} samples, {:.3f} for {} held-out samples",
      fit.kernel, fit.precision, fit.us_per_million_tiles, fit.us_per_million_windows, fit.us_per_launch,
      fit.training_r2, fit.training, fit.held_out_r2, fit.held_out);
}

Json linear_costs_json(std::span<const LinearCost> fits) {
  Json list = Json::array();
  for (const LinearCost& fit : fits)
    list.push_back({{"kernel", fit.kernel},
                    {"precision", fit.precision},
                    {"us_per_million_tiles", fit.us_per_million_tiles},
                    {"us_per_million_windows", fit.us_per_million_windows},
                    {"us_per_launch", fit.us_per_launch},
                    {"training", fit.training},
                    {"training_r2", fit.training_r2},
                    {"held_out", fit.held_out},
                    {"held_out_r2", fit.held_out_r2}});
  return list;
}

std::string selector_text(const SelectorFit& fit) {
  return fmt::format(
      "selector of {}, {}, N = {}: weights {}, {}, {}; correct for {:.0f} % of {} held-out windows, {:.0f} % "
      "of the {} with a significant difference",
      fit.kernel, fit.precision, fit.n, fit.selector.constant, fit.selector.sparsity, fit.selector.columns,
      percent(fit.held_out), fit.held_out.windows, percent(fit.clear), fit.clear.windows);
}

Json selectors_json(std::span<const SelectorFit> fits) {
  Json list = Json::array();
  for (const SelectorFit& fit : fits)
    list.push_back({{"kernel", fit.kernel},
                    {"precision", fit.precision},
                    {"n", fit.n},
                    {"selector", formats::hc_parameter(fit.selector)},
                    {"constant_weight", fit.selector.constant},
                    {"sparsity_weight", fit.selector.sparsity},
                    {"columns_weight", fit.selector.columns},
                    {"held_out", fit.held_out.windows},
                    {"right_percent", percent(fit.held_out)},
                    {"clear", fit.clear.windows},
                    {"clear_right_percent", percent(fit.clear)}});
  return list;
}

}  // namespace sptile::tools
