#include "tools/calibrate/nnls.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace sptile::tools {
namespace {

constexpr double kDependent = 1e-12;  // pivot below which a column is a combination of others
constexpr double kOptimal = 1e-10;    // gradient relative to the steepest that counts as zero
constexpr int kReweightings = 20;

// Normal equations of columns scaled to length 1: gram x = moments.
struct NormalEquations {
  std::size_t n;
  std::vector<double> gram, moments, scale;
};

NormalEquations normal_equations(const Equations& equations, std::span<const double> weights) {
  const std::size_t n = equations.unknowns;
  NormalEquations normal{n, std::vector<double>(n * n), std::vector<double>(n), std::vector<double>(n)};
  for (std::size_t i = 0; i < equations.rows(); ++i) {
    const std::span<const double> row = equations.row(i);
    for (std::size_t a = 0; a < n; ++a) {
      normal.moments[a] += weights[i] * row[a] * equations.right[i];
      for (std::size_t b = 0; b < n; ++b) normal.gram[a * n + b] += weights[i] * row[a] * row[b];
    }
  }
  for (std::size_t a = 0; a < n; ++a) {
    const double length = std::sqrt(normal.gram[a * n + a]);
    normal.scale[a] = length > 0 ? 1 / length : 0;
  }
  for (std::size_t a = 0; a < n; ++a) {
    normal.moments[a] *= normal.scale[a];
    for (std::size_t b = 0; b < n; ++b) normal.gram[a * n + b] *= normal.scale[a] * normal.scale[b];
  }
  return normal;
}

// Solves for the unknowns in `free` by Cholesky factorization, with the others set to 0. Returns false if one
// depends on the previous ones.
bool solve_free(const NormalEquations& normal, const std::vector<std::size_t>& free, std::vector<double>& x) {
  const std::size_t m = free.size();
  std::vector<double> lower(m * m), y(m);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = normal.gram[free[i] * normal.n + free[j]];
      for (std::size_t k = 0; k < j; ++k) sum -= lower[i * m + k] * lower[j * m + k];
      if (i == j && sum < kDependent) return false;
      lower[i * m + j] = i == j ? std::sqrt(sum) : sum / lower[j * m + j];
    }
    y[i] = normal.moments[free[i]];
    for (std::size_t k = 0; k < i; ++k) y[i] -= lower[i * m + k] * y[k];
    y[i] /= lower[i * m + i];
  }
  std::fill(x.begin(), x.end(), 0.0);
  for (std::size_t i = m; i-- > 0;) {
    double sum = y[i];
    for (std::size_t k = i + 1; k < m; ++k) sum -= lower[k * m + i] * x[free[k]];
    x[free[i]] = sum / lower[i * m + i];
  }
  return true;
}

double gradient(const NormalEquations& normal, const std::vector<double>& x, std::size_t a) {
  double sum = normal.moments[a];
  for (std::size_t b = 0; b < normal.n; ++b) sum -= normal.gram[a * normal.n + b] * x[b];
  return sum;
}

// Moves x towards `target` until an unknown becomes 0, and removes it from `free`.
void step_back(std::vector<double>& x, const std::vector<double>& target, std::vector<std::size_t>& free) {
  double share = 1;
  for (const std::size_t a : free)
    if (target[a] <= 0) share = std::min(share, x[a] / (x[a] - target[a]));
  for (const std::size_t a : free) x[a] += share * (target[a] - x[a]);
  const auto is_zero = [&](std::size_t a) { return target[a] <= 0 && x[a] <= kDependent; };
  for (const std::size_t a : free)
    if (is_zero(a)) x[a] = 0;
  free.erase(std::remove_if(free.begin(), free.end(), is_zero), free.end());
}

}  // namespace

std::vector<double> solve_nonnegative(const Equations& equations, std::span<const double> weights) {
  assert(weights.size() == equations.rows());
  const NormalEquations normal = normal_equations(equations, weights);
  const std::size_t n = normal.n;
  std::vector<double> x(n), target(n);
  std::vector<std::size_t> free;
  std::vector<bool> refused(n);
  double steepest = 0;
  for (const double moment : normal.moments) steepest = std::max(steepest, std::abs(moment));
  for (std::size_t round = 0; round < 3 * n + 3; ++round) {
    std::size_t best = n;
    double max = kOptimal * steepest;
    for (std::size_t a = 0; a < n; ++a) {
      if (refused[a] || normal.scale[a] == 0 || std::find(free.begin(), free.end(), a) != free.end())
        continue;
      if (const double g = gradient(normal, x, a); g > max) {
        max = g;
        best = a;
      }
    }
    if (best == n) break;
    free.push_back(best);
    if (!solve_free(normal, free, target)) {
      refused[best] = true;
      free.pop_back();
      continue;
    }
    while (std::any_of(free.begin(), free.end(), [&](std::size_t a) { return target[a] <= 0; })) {
      const std::size_t before = free.size();
      step_back(x, target, free);
      if (free.size() == before || !solve_free(normal, free, target)) break;
    }
    for (std::size_t a = 0; a < n; ++a) x[a] = std::max(target[a], 0.0);
  }
  for (std::size_t a = 0; a < n; ++a) x[a] *= normal.scale[a];
  return x;
}

std::vector<double> fit_nonnegative(const Equations& equations, double floor) {
  std::vector<double> weights(equations.rows(), 1), x;
  for (int i = 0; i < kReweightings; ++i) {
    x = solve_nonnegative(equations, weights);
    for (std::size_t r = 0; r < equations.rows(); ++r) {
      double difference = -equations.right[r];
      for (std::size_t a = 0; a < equations.unknowns; ++a) difference += equations.row(r)[a] * x[a];
      weights[r] = 1 / std::max(std::abs(difference), floor);
    }
  }
  return x;
}

}  // namespace sptile::tools
