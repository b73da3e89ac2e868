// Reference of distributed products: rows of the entire product, computed in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sptile.hpp"

namespace sptile::test {

/// Returns a number that depends on row and column.
template <class T>
T number(std::int64_t row, std::int64_t column) {
  return static_cast<T>(std::sin(1.0 + 0.37 * static_cast<double>(row) + 1.3 * static_cast<double>(column)));
}

[[noreturn]] inline void fail(const std::string& what) { throw Exception(SPTILE_STATUS_CHECK_FAILED, what); }

/// Returns all rows of the product of A or A^T with B.
template <class T>
std::vector<double> whole_product(const Matrix& matrix, std::int64_t n, bool transpose) {
  const CsrMatrix a = matrix.csr();
  std::vector<double> c(static_cast<std::size_t>(a.rows * n), 0.0);
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (auto e = static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(row)]);
         e < static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(row) + 1]); ++e) {
      const double value = a.values.type == Type::f64   ? static_cast<const double*>(a.values.data)[e]
                           : a.values.type == Type::f32 ? static_cast<const float*>(a.values.data)[e]
                                                        : 1.0;
      const std::int64_t to = transpose ? a.col_idx[e] : row, from = transpose ? row : a.col_idx[e];
      for (std::int64_t j = 0; j < n; ++j)
        c[static_cast<std::size_t>(to * n + j)] += value * static_cast<double>(number<T>(from, j));
    }
  return c;
}

/// Returns rows `ids` of B.
template <class T>
std::vector<T> rows_of_b(std::span<const std::int32_t> ids, std::int64_t n) {
  std::vector<T> b;
  for (const std::int32_t id : ids)
    for (std::int64_t j = 0; j < n; ++j) b.push_back(number<T>(id, j));
  return b;
}

/// Maximum error relative to 1 + |reference| of products computed in T.
template <class T>
constexpr double tolerance_of = sizeof(T) == 8 ? 1e-12 : 1e-4;

/// Checks that c contains rows `ids` of the entire product.
template <class T>
void compare_rows(const std::string& what, const std::vector<double>& whole,
                  std::span<const std::int32_t> ids, std::int64_t n, const std::vector<T>& c,
                  double tolerance = tolerance_of<T>) {
  for (std::size_t i = 0; i < c.size(); ++i) {
    const std::int64_t row = ids[i / static_cast<std::size_t>(n)];
    const double wanted = whole[static_cast<std::size_t>(row * n) + i % static_cast<std::size_t>(n)];
    if (!(std::abs(static_cast<double>(c[i]) - wanted) <= tolerance * (1 + std::abs(wanted))))
      fail(what + ": row " + std::to_string(row) + " has " + std::to_string(c[i]) + ", not " +
           std::to_string(wanted));
  }
}

/// Runs twice: the bits must be equal, and the numbers correct.
template <class T, class Run>
void compare(const std::string& what, const std::vector<double>& whole, std::span<const std::int32_t> ids,
             std::int64_t n, const Run& run, double tolerance = tolerance_of<T>) {
  const std::vector<T> b = rows_of_b<T>(ids, n);
  std::vector<T> c(b.size(), T(-7)), again = c;
  run(b, c);
  run(b, again);
  if (c != again) fail(what + ": two runs gave different bits");
  compare_rows(what, whole, ids, n, c, tolerance);
}

}  // namespace sptile::test
