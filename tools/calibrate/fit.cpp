#include "tools/calibrate/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "tools/calibrate/nnls.hpp"

namespace sptile::tools {
namespace {

constexpr double kNoise = 0.05;      // smaller relative errors are noise
constexpr double kShortest = 1e-3;   // least prediction, in microseconds, to divide by
constexpr double kLeastCost = 1e-4;  // half steps towards 0 leave less
constexpr int kFitSteps = 25;

using Costs = runtime::CostFeatures;              // microseconds per unit of each feature
using Key = std::pair<std::string, std::string>;  // kernel, precision
using Groups = std::map<Key, std::vector<const Sample*>>;

Groups group(std::span<const Sample> samples) {
  Groups groups;
  for (const Sample& sample : samples) groups[{sample.kernel, sample.precision}].push_back(&sample);
  return groups;
}

double cost(const Costs& costs, const Sample& sample) {
  double us = 0;
  for (std::size_t i = 0; i < costs.size(); ++i) us += costs[i] * sample.features[i];
  return us;
}

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + std::ssize(numbers) / 2;
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

// Returns the costs for which sums divided by `unit(sample)` are nearest to `right(sample)`.
template <class Unit, class Right>
Costs solve(const std::vector<const Sample*>& samples, const Unit& unit, const Right& right) {
  Equations equations;
  equations.unknowns = runtime::kFeatures.size();
  for (const Sample* sample : samples) {
    const double us = unit(*sample);
    for (const double feature : sample->features) equations.terms.push_back(feature / us);
    equations.right.push_back(right(*sample));
  }
  const std::vector<double> x = fit_nonnegative(equations, kNoise);
  Costs costs{};
  std::copy(x.begin(), x.end(), costs.begin());
  return costs;
}

// Starts with the minimum sum of relative errors, by which low predictions are better than high ones. Each
// step replaces the logarithm by its tangent at the present prediction, and goes half of the way.
Costs fit(const std::vector<const Sample*>& samples) {
  Costs costs = solve(
      samples, [](const Sample& s) { return s.us; }, [](const Sample&) { return 1.0; });
  for (int step = 0; step < kFitSteps; ++step) {
    const auto now = [&](const Sample& s) { return std::max(cost(costs, s), kShortest); };
    const Costs next =
        solve(samples, now, [&](const Sample& s) { return std::max(1 - std::log(now(s) / s.us), 0.0); });
    for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = (costs[i] + next[i]) / 2;
  }
  for (double& c : costs)
    if (c < kLeastCost) c = 0;
  return costs;
}

// Returns the constants of the same kernel in another precision, scaled by the median ratio.
Costs borrow(Costs costs, const std::vector<const Sample*>& samples) {
  std::vector<double> ratios;
  for (const Sample* sample : samples)
    if (const double us = cost(costs, *sample); us > 0) ratios.push_back(sample->us / us);
  const double ratio = ratios.empty() ? 1 : median(std::move(ratios));
  for (double& c : costs) c *= ratio;
  return costs;
}

double predicted(const runtime::DeviceProfile& profile, const Sample& sample) {
  return profile.predict(sample.kernel, sample.precision, sample.features).value_or(0);
}

}  // namespace

std::vector<runtime::ProfileNumber> fit_costs(std::span<const Sample> samples) {
  const Groups groups = group(samples);
  std::vector<runtime::ProfileNumber> numbers;
  for (const auto& [key, own] : groups) {
    const auto* max = &own;
    for (const auto& [other, others] : groups)
      if (other.first == key.first && others.size() > max->size()) max = &others;
    const bool few = own.size() < kMinSamples && max != &own;
    const Costs costs = few ? borrow(fit(*max), own) : fit(own);
    for (std::size_t i = 0; i < costs.size(); ++i)
      if (costs[i] > 0)
        numbers.push_back({key.first, key.second, std::string(runtime::kFeatures[i].name), costs[i]});
  }
  return numbers;
}

std::vector<runtime::ProfileNumber> partition_costs(std::span<const runtime::ProfileNumber> fitted) {
  constexpr std::string_view kKernel = "cuda.bmat.bulk";
  constexpr double kTileRows = 8, kWindowRows = 16, kRowMegabytes = runtime::kSliceBytes * 1e-6;
  std::map<std::string, std::map<std::string, double>> of_precision;
  for (const runtime::ProfileNumber& number : fitted)
    if (number.kernel == kKernel) of_precision[number.precision][number.name] = number.value;
  std::vector<runtime::ProfileNumber> costs;
  for (auto& [precision, us] : of_precision) {  // missing constants are 0
    const double tile = us["gather_mb"] * kTileRows * kRowMegabytes + us["tiles_m"] * 1e-6;
    const double window =
        (us["memory_mb"] + us["streamed_mb"]) * kWindowRows * kRowMegabytes + us["units_m"] * 1e-6;
    if (tile > 0 && window > 0)
      costs.push_back({std::string(kKernel), precision, "window_cost", window / tile});
  }
  return costs;
}

std::vector<FitQuality> fit_quality(const runtime::DeviceProfile& profile, std::span<const Sample> samples) {
  std::vector<FitQuality> list;
  for (const auto& [key, own] : group(samples)) {
    std::vector<double> ratios, errors;
    for (const Sample* sample : own) {
      ratios.push_back(predicted(profile, *sample) / sample->us);
      errors.push_back(std::abs(ratios.back() - 1));
    }
    const auto [lowest, highest] = std::minmax_element(ratios.begin(), ratios.end());
    list.push_back({key.first, key.second, std::ssize(own), median(errors), *lowest, *highest});
  }
  return list;
}

ChoiceQuality choice_quality(const runtime::DeviceProfile& profile, std::span<const Sample> samples) {
  std::map<std::string, std::vector<const Sample*>> cases;
  for (const Sample& sample : samples)
    cases[fmt::format("{} of {}, N = {}, {}", sample.op, sample.matrix, sample.n, sample.dense)].push_back(
        &sample);
  ChoiceQuality quality;
  double logarithms = 0;
  for (const auto& [name, own] : cases) {
    if (own.size() < 2) continue;
    const Sample* const chosen = *std::min_element(own.begin(), own.end(), [&](const auto* a, const auto* b) {
      return predicted(profile, *a) < predicted(profile, *b);
    });
    const Sample* const best =
        *std::min_element(own.begin(), own.end(), [](const auto* a, const auto* b) { return a->us < b->us; });
    const double regret = chosen->us / best->us;
    ++quality.cases;
    quality.within_5 += regret <= 1.05 ? 1 : 0;
    quality.within_10 += regret <= 1.10 ? 1 : 0;
    logarithms += std::log(regret);
    if (regret <= quality.worst_regret) continue;
    quality.worst_regret = regret;
    quality.worst_case = fmt::format("{}: {} instead of {}", name, chosen->format, best->format);
  }
  if (quality.cases == 0) return quality;
  const auto cases_count = static_cast<double>(quality.cases);
  quality.within_5 /= cases_count;
  quality.within_10 /= cases_count;
  quality.mean_regret = std::exp(logarithms / cases_count);
  return quality;
}

}  // namespace sptile::tools
