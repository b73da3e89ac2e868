#include "tools/calibrate/logistic.hpp"

#include <cmath>
#include <vector>

namespace sptile::tools {
namespace {

constexpr int kSteps = 100, kHalvings = 30;
constexpr double kSettled = 1e-12;  // relative gain at which the iteration stops

using Vector = std::array<double, 3>;  // coefficients of 1 and the features
using Matrix = std::array<Vector, 3>;

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// A sample with standardized features: mean 0, standard deviation 1.
struct Standardised {
  Vector x;
  bool positive;
};

// Standardization: (feature - mean) * scale.
struct Scale {
  double mean = 0, scale = 0;
};

Scale scale_of(std::span<const LogisticSample> samples, std::size_t feature) {
  const auto count = static_cast<double>(samples.size());
  double mean = 0, squares = 0;
  for (const LogisticSample& s : samples) mean += s.features[feature] / count;
  for (const LogisticSample& s : samples) squares += std::pow(s.features[feature] - mean, 2) / count;
  return {mean, squares > 0 ? 1 / std::sqrt(squares) : 0};
}

// Computes log(1 + e^z) without overflow.
double softplus(double z) { return z > 0 ? z + std::log1p(std::exp(-z)) : std::log1p(std::exp(z)); }

double loss(std::span<const Standardised> samples, const Vector& w) {
  double sum = kRidge / 2 * dot(w, w);
  for (const Standardised& s : samples) sum += softplus(s.positive ? -dot(w, s.x) : dot(w, s.x));
  return sum;
}

// Solves h x = g for a positive definite h, by elimination.
Vector solve(Matrix h, Vector g) {
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = i + 1; j < 3; ++j) {
      const double factor = h[j][i] / h[i][i];
      for (std::size_t k = i; k < 3; ++k) h[j][k] -= factor * h[i][k];
      g[j] -= factor * g[i];
    }
  for (std::size_t i = 3; i-- > 0;) {
    for (std::size_t k = i + 1; k < 3; ++k) g[i] -= h[i][k] * g[k];
    g[i] /= h[i][i];
  }
  return g;
}

// Returns the Newton step: the minimum of the quadratic with the loss's derivatives at w, minus w.
Vector newton_step(std::span<const Standardised> samples, const Vector& w) {
  Vector down = {-kRidge * w[0], -kRidge * w[1], -kRidge * w[2]};
  Matrix curvature = {Vector{kRidge, 0, 0}, Vector{0, kRidge, 0}, Vector{0, 0, kRidge}};
  for (const Standardised& s : samples) {
    const double p = 1 / (1 + std::exp(-dot(w, s.x)));
    for (std::size_t i = 0; i < 3; ++i) {
      down[i] += ((s.positive ? 1 : 0) - p) * s.x[i];
      for (std::size_t j = 0; j < 3; ++j) curvature[i][j] += p * (1 - p) * s.x[i] * s.x[j];
    }
  }
  return solve(curvature, down);
}

Vector moved(const Vector& w, const Vector& step, double share) {
  return {w[0] + share * step[0], w[1] + share * step[1], w[2] + share * step[2]};
}

Vector minimise(std::span<const Standardised> samples) {
  Vector w{};
  double min = loss(samples, w);
  for (int i = 0; i < kSteps; ++i) {
    const Vector step = newton_step(samples, w);
    double share = 1, reached = loss(samples, moved(w, step, share));
    for (int halved = 0; reached > min && halved < kHalvings; ++halved)
      reached = loss(samples, moved(w, step, share /= 2));
    if (reached > min - kSettled) break;
    w = moved(w, step, share);
    min = reached;
  }
  return w;
}

}  // namespace

LogisticFit fit_logistic(std::span<const LogisticSample> samples) {
  const Scale scales[] = {scale_of(samples, 0), scale_of(samples, 1)};
  std::vector<Standardised> standardised;
  for (const LogisticSample& s : samples)
    standardised.push_back({{1, (s.features[0] - scales[0].mean) * scales[0].scale,
                             (s.features[1] - scales[1].mean) * scales[1].scale},
                            s.positive});
  const Vector w = minimise(standardised);
  LogisticFit fit = {w[0], {w[1] * scales[0].scale, w[2] * scales[1].scale}};
  for (std::size_t i = 0; i < 2; ++i) fit.constant -= fit.weights[i] * scales[i].mean;
  return fit;
}

}  // namespace sptile::tools
