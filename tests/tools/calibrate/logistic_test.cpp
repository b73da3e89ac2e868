// Logistic regression of planted data.
#include "tools/calibrate/logistic.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

using namespace sptile::tools;

namespace {

double sum_at(const LogisticFit& fit, const LogisticSample& s) {
  return fit.constant + fit.weights[0] * s.features[0] + fit.weights[1] * s.features[1];
}

/// A grid of points, positive where 3 - 4 x + 0.1 y > 0 but for a share that is wrong.
std::vector<LogisticSample> planted(double wrong) {
  std::mt19937 random(5);
  std::vector<LogisticSample> samples;
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 40; ++j) {
      const double x = i / 39.0, y = 3 * j / 39.0 - 1;
      const bool flip = static_cast<double>(random()) < wrong * 4294967296.0;
      samples.push_back({{x, y}, (3 - 4 * x + 0.1 * y > 0) != flip});
    }
  return samples;
}

int errors(const LogisticFit& fit, const std::vector<LogisticSample>& samples) {
  int wrong = 0;
  for (const LogisticSample& s : samples) wrong += (sum_at(fit, s) > 0) != s.positive;
  return wrong;
}

}  // namespace

TEST_CASE("logistic: finds the line that was planted, also where it separates the samples") {
  const auto clean = planted(0);
  const LogisticFit exact = fit_logistic(clean);
  CHECK(errors(exact, clean) <= 2);
  CHECK(exact.constant / exact.weights[0] == doctest::Approx(-0.75).epsilon(0.02));
  CHECK(std::isfinite(exact.weights[0]));

  const LogisticFit noisy = fit_logistic(planted(0.1));
  CHECK(errors(noisy, clean) < 60);
  CHECK(noisy.constant / noisy.weights[0] == doctest::Approx(-0.75).epsilon(0.05));
  CHECK(std::abs(noisy.weights[0]) < std::abs(exact.weights[0]));  // not as sure
}

TEST_CASE("logistic: the likelihood has no slope at the answer") {
  const auto samples = planted(0.2);
  const LogisticFit fit = fit_logistic(samples);
  double slope[3] = {};
  for (const LogisticSample& s : samples) {
    const double missing = (s.positive ? 1 : 0) - 1 / (1 + std::exp(-sum_at(fit, s)));
    slope[0] += missing;
    for (int i = 0; i < 2; ++i) slope[i + 1] += missing * s.features[static_cast<std::size_t>(i)];
  }
  for (const double one : slope) CHECK(std::abs(one) < 0.1);  // the ridge pulls a little
}

TEST_CASE("logistic: samples of one kind, a feature that never changes, no samples") {
  const std::vector<LogisticSample> positive = {{{0, 1}, true}, {{1, 1}, true}, {{2, 1}, true}};
  const LogisticFit all = fit_logistic(positive);
  CHECK(errors(all, positive) == 0);
  CHECK(all.weights[1] == 0);
  CHECK(fit_logistic(std::vector<LogisticSample>{{{5, 5}, false}}).constant < 0);
  const LogisticFit none = fit_logistic({});
  CHECK(none.constant == 0);
  CHECK(none.weights[0] == 0);
}

TEST_CASE("logistic: the units of features do not matter") {
  auto scaled = planted(0.1);
  for (LogisticSample& s : scaled) s.features = {1e9 * s.features[0] + 7e9, 1e-9 * s.features[1]};
  const LogisticFit fit = fit_logistic(planted(0.1)), same = fit_logistic(scaled);
  CHECK(same.weights[0] * 1e9 == doctest::Approx(fit.weights[0]));
  CHECK(same.weights[1] * 1e-9 == doctest::Approx(fit.weights[1]));
}
