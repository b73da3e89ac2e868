#include "runtime/reference/spmm.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "runtime/reference/compare.hpp"

namespace sptile::runtime {
namespace {

/// Sums of the products of one row and of their absolute values.
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
      with_elements(dense, operands.b, [&](const auto* b) {
        for (std::int64_t j = 0; j < n; ++j) {
          const double product = value * widened(b[b_row + j]);
          sum[static_cast<std::size_t>(j)] += product;
          absolute[static_cast<std::size_t>(j)] += std::fabs(product);
        }
      });
    }
  }
};

}  // namespace

void spmm_numbers(const formats::CsrView& a, std::int64_t n, const DenseTypes& dense,
                  const SpmmOperands& operands, const void* before, const ResultSink& sink) {
  assert(n >= 1 && operands.ldb >= n && operands.ldc >= n);
  assert(operands.beta == 0 || before != nullptr || a.rows == 0);
  RowSums row(n);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    row.compute(a, r, dense.operands, operands);
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t at = r * operands.ldc + j;
      const double old = operands.beta != 0 ? operands.beta * read_element(dense.result, before, at) : 0;
      const auto column = static_cast<std::size_t>(j);
      sink(operands.c, dense.result, at,
           {operands.alpha * row.sum[column] + old,
            std::fabs(operands.alpha) * row.absolute[column] + std::fabs(old)});
    }
  }
}

void reference_spmm(const formats::CsrView& a, std::int64_t n, const DenseTypes& dense,
                    const SpmmOperands& operands) {
  spmm_numbers(a, n, dense, operands, operands.c, write_number);
}

double relative_error(const formats::CsrView& a, std::int64_t n, const DenseTypes& dense,
                      const SpmmOperands& computed, const void* c_before) {
  WorstError worst;
  spmm_numbers(a, n, dense, computed, c_before, worst.sink());
  return worst.worst();
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
