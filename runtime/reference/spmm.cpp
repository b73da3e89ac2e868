#include "runtime/reference/spmm.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "runtime/reference/element.hpp"

namespace sptile::runtime {
namespace {

/// Sums of one row: the products, and their absolute values.
struct RowSums {
  std::vector<double> sum, absolute;

  explicit RowSums(std::int64_t n)
      : sum(static_cast<std::size_t>(n)), absolute(static_cast<std::size_t>(n)) {}

  void compute(const formats::CsrView& a, std::int64_t row, DType dense, const SpmmOperands& operands) {
    std::fill(sum.begin(), sum.end(), 0.0);
    std::fill(absolute.begin(), absolute.end(), 0.0);
    const auto n = static_cast<std::int64_t>(sum.size());
    const auto r = static_cast<std::size_t>(row);
    for (std::int64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) {
      const double value = a.is_pattern() ? 1.0 : read_element(a.values.dtype, a.values.data, k);
      const std::int64_t b_row = a.col_idx[static_cast<std::size_t>(k)] * operands.ldb;
      for (std::int64_t j = 0; j < n; ++j) {
        const double product = value * read_element(dense, operands.b, b_row + j);
        sum[static_cast<std::size_t>(j)] += product;
        absolute[static_cast<std::size_t>(j)] += std::fabs(product);
      }
    }
  }
};

}  // namespace

void reference_spmm(const formats::CsrView& a, std::int64_t n, const DenseTypes& dense,
                    const SpmmOperands& operands) {
  assert(n >= 1 && operands.ldb >= n && operands.ldc >= n);
  RowSums row(n);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    row.compute(a, r, dense.operands, operands);
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t at = r * operands.ldc + j;
      double x = operands.alpha * row.sum[static_cast<std::size_t>(j)];
      if (operands.beta != 0) x += operands.beta * read_element(dense.result, operands.c, at);
      write_element(dense.result, operands.c, at, x);
    }
  }
}

double relative_error(const formats::CsrView& a, std::int64_t n, const DenseTypes& dense,
                      const SpmmOperands& computed, const void* c_before) {
  assert(n >= 1 && computed.ldb >= n && computed.ldc >= n);
  assert(computed.beta == 0 || c_before != nullptr || a.rows == 0);
  double worst = 0;
  RowSums row(n);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    row.compute(a, r, dense.operands, computed);
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t at = r * computed.ldc + j;
      const double before = computed.beta != 0 ? computed.beta * read_element(dense.result, c_before, at) : 0;
      const double reference = computed.alpha * row.sum[static_cast<std::size_t>(j)] + before;
      const double scale =
          std::fabs(computed.alpha) * row.absolute[static_cast<std::size_t>(j)] + std::fabs(before);
      worst = std::max(
          worst, element_error(dense.result, read_element(dense.result, computed.c, at), reference, scale));
    }
  }
  return worst;
}

std::int64_t longest_row(const formats::CsrView& a) {
  std::int64_t longest = 0;
  for (std::int64_t r = 0; r < a.rows; ++r) longest = std::max(longest, a.row_nnz(r));
  return longest;
}

double tolerated_error(const formats::CsrView& a, const DenseTypes& dense) {
  return tolerated_sum_error(longest_row(a), dense);
}

}  // namespace sptile::runtime
