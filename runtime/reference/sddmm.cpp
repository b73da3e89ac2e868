#include "runtime/reference/sddmm.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "runtime/reference/element.hpp"

namespace sptile::runtime {
namespace {

/// One number of the result, and what its rounding errors are proportional to.
struct Sum {
  double sum = 0, absolute = 0;
};

Sum dot(const formats::CsrView& a, std::int64_t row, std::int64_t k, std::int64_t n, DType dense,
        const SddmmOperands& operands) {
  const std::int64_t x = row * operands.ldx, y = a.col_idx[static_cast<std::size_t>(k)] * operands.ldy;
  Sum sum;
  for (std::int64_t j = 0; j < n; ++j) {
    const double product = read_element(dense, operands.x, x + j) * read_element(dense, operands.y, y + j);
    sum.sum += product;
    sum.absolute += std::fabs(product);
  }
  const bool scaled = operands.scaled && !a.is_pattern();
  const double factor = operands.alpha * (scaled ? read_element(a.values.dtype, a.values.data, k) : 1.0);
  return {factor * sum.sum, std::fabs(factor) * sum.absolute};
}

/// Calls f(position in out, sum) for each entry.
template <class F>
void for_each_sum(const formats::CsrView& a, std::span<const std::int64_t> packed, std::int64_t n,
                  const DenseTypes& dense, const SddmmOperands& operands, F f) {
  assert(n >= 1 && operands.ldx >= n && operands.ldy >= n);
  assert(packed.empty() || std::ssize(packed) == a.nnz());
  for (std::int64_t r = 0; r < a.rows; ++r)
    for (std::int64_t k = a.row_ptr[static_cast<std::size_t>(r)];
         k < a.row_ptr[static_cast<std::size_t>(r) + 1]; ++k)
      f(packed.empty() ? k : packed[static_cast<std::size_t>(k)], dot(a, r, k, n, dense.operands, operands));
}

}  // namespace

void reference_sddmm(const formats::CsrView& a, std::span<const std::int64_t> packed, std::int64_t n,
                     const DenseTypes& dense, const SddmmOperands& operands) {
  for_each_sum(a, packed, n, dense, operands, [&](std::int64_t at, const Sum& sum) {
    double x = sum.sum;
    if (operands.beta != 0) x += operands.beta * read_element(dense.result, operands.out, at);
    write_element(dense.result, operands.out, at, x);
  });
}

double relative_error(const formats::CsrView& a, std::span<const std::int64_t> packed, std::int64_t n,
                      const DenseTypes& dense, const SddmmOperands& computed, const void* out_before) {
  assert(computed.beta == 0 || out_before != nullptr || a.nnz() == 0);
  double worst = 0;
  for_each_sum(a, packed, n, dense, computed, [&](std::int64_t at, const Sum& sum) {
    const double before = computed.beta != 0 ? computed.beta * read_element(dense.result, out_before, at) : 0;
    worst = std::max(worst, element_error(dense.result, read_element(dense.result, computed.out, at),
                                          sum.sum + before, sum.absolute + std::fabs(before)));
  });
  return worst;
}

}  // namespace sptile::runtime
