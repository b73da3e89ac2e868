#include "tools/calibrate/linear_cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "formats/core/random.hpp"

namespace sptile::tools {
namespace {

constexpr std::size_t kUnknowns = 3;
using Row = std::array<double, kUnknowns>;  // tiles, windows and launches; or their coefficients

struct Point {
  Row terms;
  double us;
};

constexpr std::size_t feature(std::string_view name) {
  std::size_t i = 0;
  while (runtime::kFeatures[i].name != name) ++i;
  return i;
}

Point point_of(const Sample& sample) {
  return {{sample.features[feature("tiles_m")], sample.features[feature("units_m")], 1}, sample.us};
}

double predict(const Row& coefficients, const Point& point) {
  double us = 0;
  for (std::size_t i = 0; i < kUnknowns; ++i) us += coefficients[i] * point.terms[i];
  return us;
}

// Solves the normal equations by Gauss-Jordan elimination with pivoting, after scaling all columns to 1;
// nullopt if they are dependent.
std::optional<Row> least_squares(std::span<const Point> points) {
  constexpr double kDependent = 1e-9;
  Row scale{};
  for (const Point& point : points)
    for (std::size_t i = 0; i < kUnknowns; ++i) scale[i] += point.terms[i] * point.terms[i];
  for (double& s : scale) {
    if (s <= 0) return std::nullopt;
    s = 1 / std::sqrt(s);
  }
  std::array<std::array<double, kUnknowns + 1>, kUnknowns> m{};
  for (const Point& point : points)
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      for (std::size_t j = 0; j < kUnknowns; ++j)
        m[i][j] += point.terms[i] * scale[i] * point.terms[j] * scale[j];
      m[i][kUnknowns] += point.terms[i] * scale[i] * point.us;
    }
  for (std::size_t k = 0; k < kUnknowns; ++k) {
    const auto pivot =
        std::max_element(m.begin() + static_cast<std::ptrdiff_t>(k), m.end(),
                         [=](const auto& a, const auto& b) { return std::abs(a[k]) < std::abs(b[k]); });
    if (std::abs((*pivot)[k]) < kDependent) return std::nullopt;
    std::swap(m[k], *pivot);
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      if (i == k) continue;
      const double factor = m[i][k] / m[k][k];
      for (std::size_t j = k; j <= kUnknowns; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  Row x{};
  for (std::size_t i = 0; i < kUnknowns; ++i) x[i] = m[i][kUnknowns] / m[i][i] * scale[i];
  return x;
}

// Returns 1 - (squared errors) / (squared deviations from the mean); 0 without deviations.
double determination(const Row& coefficients, std::span<const Point> points) {
  double mean = 0, errors = 0, deviations = 0;
  for (const Point& point : points) mean += point.us / static_cast<double>(points.size());
  for (const Point& point : points) {
    const double error = point.us - predict(coefficients, point);
    errors += error * error;
    deviations += (point.us - mean) * (point.us - mean);
  }
  return deviations > 0 ? 1 - errors / deviations : 0;
}

std::vector<Point> shuffled(const std::vector<Point>& points) {
  constexpr std::uint64_t kSeed = 1;
  std::vector<Point> result;
  for (const std::int32_t i : random_permutation(std::ssize(points), RandomStream(kSeed)))
    result.push_back(points[static_cast<std::size_t>(i)]);
  return result;
}

}  // namespace

std::vector<LinearCost> fit_linear_costs(std::span<const Sample> samples,
                                         std::span<const std::string_view> kernels) {
  std::map<std::pair<std::string, std::string>, std::vector<Point>> groups;
  for (const Sample& sample : samples)
    if (std::find(kernels.begin(), kernels.end(), sample.kernel) != kernels.end())
      groups[{sample.kernel, sample.precision}].push_back(point_of(sample));
  std::vector<LinearCost> fits;
  for (const auto& [key, measured] : groups) {
    if (measured.size() < kMinLinearSamples) continue;
    const std::vector<Point> points = shuffled(measured);
    const auto training = std::span(points).first(points.size() * 4 / 5);
    const auto held_out = std::span(points).subspan(training.size());
    const std::optional<Row> x = least_squares(training);
    if (!x) continue;
    fits.push_back({key.first, key.second, (*x)[0], (*x)[1], (*x)[2], std::ssize(training),
                    std::ssize(held_out), determination(*x, training), determination(*x, held_out)});
  }
  return fits;
}

std::vector<runtime::ProfileNumber> division_costs(std::span<const runtime::ProfileNumber> fitted,
                                                   std::span<const LinearCost> regressions) {
  std::vector<runtime::ProfileNumber> costs = partition_costs(fitted);
  for (const LinearCost& fit : regressions) {
    const bool positive = fit.us_per_million_tiles > 0 && fit.us_per_million_windows > 0;
    if (!positive || fit.held_out_r2 < kMinHeldOutR2) continue;
    std::erase_if(costs, [&](const runtime::ProfileNumber& cost) {
      return cost.kernel == fit.kernel && cost.precision == fit.precision;
    });
    const auto add = [&](const char* name, double tiles) {
      costs.push_back({fit.kernel, fit.precision, name, tiles});
    };
    add("tile_cost", 1);
    add("window_cost", fit.us_per_million_windows / fit.us_per_million_tiles);
    add("fixed_cost", 1e6 * std::max(fit.us_per_launch, 0.0) / fit.us_per_million_tiles);
  }
  return costs;
}

}  // namespace sptile::tools
