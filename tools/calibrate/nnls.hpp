// Nonnegative least squares.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sptile::tools {

/// Rows of equations with the same number of unknowns.
struct Equations {
  std::size_t unknowns = 0;
  std::vector<double> terms;  ///< row-major, rows x unknowns
  std::vector<double> right;  ///< one per row

  [[nodiscard]] std::size_t rows() const { return right.size(); }
  [[nodiscard]] std::span<const double> row(std::size_t i) const {
    return {terms.data() + i * unknowns, unknowns};
  }
};

/// Returns the x >= 0 that minimizes the sum of weight * (row . x - right)^2, by the active set method of
/// Lawson and Hanson (Solving Least Squares Problems, 1974, chapter 23) on the normal equations of scaled
/// columns. Unknowns whose column is zero or depends on others are 0. `weights` has one number per row.
/// O(rows unknowns^2 + unknowns^4).
std::vector<double> solve_nonnegative(const Equations& equations, std::span<const double> weights);

/// Minimizes the sum of absolute differences, which is robust against outliers, by iteratively reweighted
/// least squares with weights 1 / difference. Differences below `floor` have equal weights.
std::vector<double> fit_nonnegative(const Equations& equations, double floor);

}  // namespace sptile::tools
