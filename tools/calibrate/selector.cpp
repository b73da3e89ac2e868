#include "tools/calibrate/selector.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "formats/layout/hc_window.hpp"
#include "runtime/choice/fitted_parameter.hpp"

namespace sptile::tools {
namespace {

using Case = std::tuple<std::string, std::string, std::int64_t>;  // kernel, precision, N

// Returns the features of formats::on_cuda_cores.
LogisticSample features_of(const SelectorSample& sample) {
  const auto columns = static_cast<double>(sample.shape.columns),
             entries = static_cast<double>(sample.shape.entries);
  return {{1 - entries / (16 * columns), columns / 16}, sample.cuda_us < sample.tensor_us};
}

bool is_clear(const SelectorSample& sample) {
  const auto [less, more] = std::minmax(sample.tensor_us, sample.cuda_us);
  return more > (1 + kClearDifference) * less;
}

void add(const SelectorSample& sample, SelectorFit& fit) {
  const bool cuda = formats::on_cuda_cores(fit.selector, sample.shape.columns, sample.shape.entries);
  const bool right = cuda == (sample.cuda_us < sample.tensor_us);
  for (SelectorScore* const score : {&fit.held_out, is_clear(sample) ? &fit.clear : nullptr}) {
    if (score == nullptr) continue;
    score->right += right;
    ++score->windows;
  }
}

}  // namespace

formats::HcSelector whole_weights(const LogisticFit& fit) {
  const double weights[] = {fit.constant, fit.weights[0], fit.weights[1]};
  double largest = 0;
  for (const double weight : weights) largest = std::max(largest, std::abs(weight));
  if (largest == 0) return formats::kHcAllTensor;
  const auto whole = [&](double weight) {
    return static_cast<int>(std::lround(weight / largest * formats::kHcMaxWeight));
  };
  return {whole(weights[0]), whole(weights[1]), whole(weights[2])};
}

namespace {

/// With equal sparsity, more columns never favor tensor cores, because the number of tiles grows in
/// proportion. A fit with the opposite sign has fitted noise and would misclassify the widest windows, which
/// are outside the samples.
LogisticFit fit_of(std::vector<LogisticSample> samples) {
  const LogisticFit fit = fit_logistic(samples);
  if (fit.weights[1] >= 0) return fit;
  for (LogisticSample& sample : samples) sample.features[1] = 0;
  return fit_logistic(samples);
}

}  // namespace

std::vector<SelectorFit> fit_selectors(std::span<const SelectorSample> samples) {
  std::map<Case, std::vector<const SelectorSample*>> cases;
  for (const SelectorSample& s : samples) cases[{s.kernel, s.precision, s.n}].push_back(&s);
  std::vector<SelectorFit> fits;
  for (const auto& [key, own] : cases) {
    std::vector<LogisticSample> fitted;
    for (const SelectorSample* const s : own)
      if (!s->shape.held_out) fitted.push_back(features_of(*s));
    const auto& [kernel, precision, n] = key;
    SelectorFit fit{kernel, precision, n, whole_weights(fit_of(std::move(fitted))), {}, {}};
    for (const SelectorSample* const s : own)
      if (s->shape.held_out) add(*s, fit);
    fits.push_back(std::move(fit));
  }
  return fits;
}

std::vector<runtime::ProfileNumber> selector_numbers(std::span<const SelectorFit> fits) {
  const std::string_view name = formats::kHcWindowLayout.parameter->name;
  std::vector<runtime::ProfileNumber> numbers;
  for (const SelectorFit& fit : fits)
    numbers.push_back({fit.kernel, fit.precision, runtime::fitted_name(name, fit.n),
                       static_cast<double>(formats::hc_parameter(fit.selector))});
  return numbers;
}

}  // namespace sptile::tools
