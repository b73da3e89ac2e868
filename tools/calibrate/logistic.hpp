// Logistic regression of two features.
#pragma once

#include <array>
#include <span>

namespace sptile::tools {

struct LogisticSample {
  std::array<double, 2> features;
  bool positive;
};

/// Predicts a positive sample where constant + weights . features > 0.
struct LogisticFit {
  double constant = 0;
  std::array<double, 2> weights = {};
};

/// Maximises the likelihood less kRidge / 2 times the squares of the coefficients of standardised features,
/// so that there is one answer where a line separates the samples, too, or all are alike: Newton's method
/// with halved steps. All zero without samples; a feature that never changes has no weight. O(samples).
LogisticFit fit_logistic(std::span<const LogisticSample> samples);

inline constexpr double kRidge = 0.01;

}  // namespace sptile::tools
