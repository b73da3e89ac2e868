#include "runtime/reference/sddmm.hpp"

#include <cassert>
#include <cmath>

#include "runtime/reference/compare.hpp"

namespace sptile::runtime {
namespace {

/// Returns one number of the result, before beta.
ReferenceNumber dot(const formats::CsrView& a, std::int64_t row, std::int64_t k, std::int64_t n, DType dense,
                    const SddmmOperands& operands) {
  const std::int64_t x = row * operands.ldx, y = a.col_idx[static_cast<std::size_t>(k)] * operands.ldy;
  double sum = 0, absolute = 0;
  with_elements(dense, operands.x, [&](const auto* xs) {
    const auto* const ys = static_cast<decltype(xs)>(operands.y);
    for (std::int64_t j = 0; j < n; ++j) {
      const double product = widened(xs[x + j]) * widened(ys[y + j]);
      sum += product;
      absolute += std::fabs(product);
    }
  });
  const bool scaled = operands.scaled && !a.is_pattern();
  const double factor = operands.alpha * (scaled ? read_element(a.values.dtype, a.values.data, k) : 1.0);
  return {factor * sum, std::fabs(factor) * absolute};
}

}  // namespace

void sddmm_numbers(const formats::CsrView& a, std::span<const std::int64_t> packed, std::int64_t n,
                   const DenseTypes& dense, const SddmmOperands& operands, const void* before,
                   const ResultSink& sink) {
  assert(n >= 1 && operands.ldx >= n && operands.ldy >= n);
  assert(packed.empty() || std::ssize(packed) == a.nnz());
  assert(operands.beta == 0 || before != nullptr || a.nnz() == 0);
  for (std::int64_t r = 0; r < a.rows; ++r)
    for (std::int64_t k = a.row_ptr[static_cast<std::size_t>(r)];
         k < a.row_ptr[static_cast<std::size_t>(r) + 1]; ++k) {
      const std::int64_t at = packed.empty() ? k : packed[static_cast<std::size_t>(k)];
      const ReferenceNumber sum = dot(a, r, k, n, dense.operands, operands);
      const double old = operands.beta != 0 ? operands.beta * read_element(dense.result, before, at) : 0;
      sink(operands.out, dense.result, at, {sum.value + old, sum.scale + std::fabs(old)});
    }
}

void reference_sddmm(const formats::CsrView& a, std::span<const std::int64_t> packed, std::int64_t n,
                     const DenseTypes& dense, const SddmmOperands& operands) {
  sddmm_numbers(a, packed, n, dense, operands, operands.out, write_number);
}

double relative_error(const formats::CsrView& a, std::span<const std::int64_t> packed, std::int64_t n,
                      const DenseTypes& dense, const SddmmOperands& computed, const void* out_before) {
  WorstError worst;
  sddmm_numbers(a, packed, n, dense, computed, out_before, worst.sink());
  return worst.worst();
}

}  // namespace sptile::runtime
