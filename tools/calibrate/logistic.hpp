// Logistic regression of two features.
#pragma once

#include <array>
#include <span>

namespace sptile::tools {

struct LogisticSample {
  std::array<double, 2> features;
  bool positive;
};

/// Predicts a positive sample if constant + weights . features > 0.
struct LogisticFit {
  double constant = 0;
  std::array<double, 2> weights = {};
};

/// Maximizes the log-likelihood minus kRidge / 2 times the squared coefficients of standardized features,
/// which has a unique solution even if a line separates the samples or all are equal. Newton's method with
/// step halving. All coefficients are zero without samples; a constant feature has weight 0. O(samples).
LogisticFit fit_logistic(std::span<const LogisticSample> samples);

inline constexpr double kRidge = 0.01;

}  // namespace sptile::tools
