// Least squares with coefficients that are not negative.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sptile::tools {

/// Rows of equations, all with the same number of unknowns.
struct Equations {
  std::size_t unknowns = 0;
  std::vector<double> terms;  ///< row-major, rows x unknowns
  std::vector<double> right;  ///< rows

  [[nodiscard]] std::size_t rows() const { return right.size(); }
  [[nodiscard]] std::span<const double> row(std::size_t i) const {
    return {terms.data() + i * unknowns, unknowns};
  }
};

/// Finds x >= 0 with the least sum of weight * (row . x - right)^2: the active set method of Lawson and
/// Hanson (Solving Least Squares Problems, 1974, chapter 23) on the normal equations of scaled columns.
/// Unknowns whose column is zero, or depends on others, get 0. `weights` has one number a row. O(rows
/// unknowns^2 + unknowns^4).
std::vector<double> solve_nonnegative(const Equations& equations, std::span<const double> weights);

/// The same for the sum of absolute differences, so that a few rows that fit badly do not bend the rest:
/// weights of 1 / difference, renewed until they settle (iteratively reweighted least squares). Differences
/// below `floor` count alike.
std::vector<double> fit_nonnegative(const Equations& equations, double floor);

}  // namespace sptile::tools
