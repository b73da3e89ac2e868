// Non-negative least squares against solutions that are known.
#include "tools/calibrate/nnls.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace sptile::tools;

namespace {

Equations equations(std::size_t unknowns, std::vector<double> terms, std::vector<double> right) {
  return {unknowns, std::move(terms), std::move(right)};
}

std::vector<double> solve(const Equations& e) {
  return solve_nonnegative(e, std::vector<double>(e.rows(), 1));
}

double misfit(const Equations& e, const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t r = 0; r < e.rows(); ++r) {
    double difference = -e.right[r];
    for (std::size_t a = 0; a < e.unknowns; ++a) difference += e.row(r)[a] * x[a];
    sum += difference * difference;
  }
  return sum;
}

}  // namespace

TEST_CASE("nnls: an exact solution") {
  const auto x = solve(equations(2, {1, 0, 0, 1, 1, 1}, {2, 3, 5}));
  CHECK(x[0] == doctest::Approx(2));
  CHECK(x[1] == doctest::Approx(3));
}

TEST_CASE("nnls: an unknown that would be negative is 0, the others make up for it") {
  // Unbounded: x = (3, -1). With x1 = 0 the best x0 minimises (x0 - 3)^2 + (x0 - 2)^2.
  const auto x = solve(equations(2, {1, 0, 1, 1}, {3, 2}));
  CHECK(x[0] == doctest::Approx(2.5));
  CHECK(x[1] == 0);
}

TEST_CASE("nnls: nothing helps, columns of zeros, columns twice, no rows") {
  CHECK(solve(equations(1, {1, 1}, {-1, -2})) == std::vector<double>{0});
  const auto zeros = solve(equations(2, {0, 1, 0, 2}, {1, 2}));
  CHECK(zeros[0] == 0);
  CHECK(zeros[1] == doctest::Approx(1));
  const auto twice = solve(equations(2, {1, 1, 2, 2}, {1, 2}));
  CHECK(twice[0] + twice[1] == doctest::Approx(1));
  CHECK(solve(equations(2, {}, {})) == std::vector<double>{0, 0});
}

TEST_CASE("nnls: columns of very different sizes") {
  const auto x = solve(equations(2, {1e9, 1e-9, 2e9, 1e-9, 1e9, 3e-9}, {3, 5, 5}));  // 2e-9, 1e9
  CHECK(x[0] == doctest::Approx(2e-9));
  CHECK(x[1] == doctest::Approx(1e9));
}

TEST_CASE("nnls: weights decide between rows that disagree") {
  const Equations e = equations(1, {1, 1}, {1, 3});
  CHECK(solve_nonnegative(e, std::vector<double>{1, 1})[0] == doctest::Approx(2));
  CHECK(solve_nonnegative(e, std::vector<double>{3, 1})[0] == doctest::Approx(1.5));
}

TEST_CASE("nnls: no small step improves a random solution") {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 50; ++round) {
    Equations e{6, {}, {}};
    for (int i = 0; i < 20 * 6; ++i) e.terms.push_back(normal(random));
    for (int i = 0; i < 20; ++i) e.right.push_back(normal(random));
    const auto x = solve(e);
    const double best = misfit(e, x);
    for (std::size_t a = 0; a < 6; ++a) {
      CHECK(x[a] >= 0);
      for (const double step : {1e-3, -1e-3}) {
        auto other = x;
        other[a] = std::max(other[a] + step, 0.0);
        CHECK(misfit(e, other) >= best * (1 - 1e-9));
      }
    }
  }
}

TEST_CASE("nnls: least absolute differences ignore a row that is far off") {
  Equations e = equations(1, {1, 1, 1, 1, 1}, {2, 2.001, 1.999, 2, 50});
  CHECK(fit_nonnegative(e, 1e-6)[0] == doctest::Approx(2).epsilon(0.001));
}
