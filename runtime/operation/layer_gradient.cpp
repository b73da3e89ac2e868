#include "runtime/operation/layer_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/reference/element.hpp"
#include "runtime/reference/spmm.hpp"

namespace sptile::runtime {
namespace {

constexpr OperandSpec kOperands[] = {
    {.name = "G", .extent = Extent::cols, .width = Width::m},
    {.name = "X", .extent = Extent::rows},
    {.name = "W", .extent = Extent::inner, .width = Width::m, .shared = true},
    {.name = "dX", .extent = Extent::rows, .result = true},
    {.name = "dW", .extent = Extent::inner, .result = true, .width = Width::m}};

/// Reads rows of X and writes rows of dX once. Accesses to W and dW are not counted, because both stay in the
/// caches.
Work work(const ProductSizes& s) {
  const auto rows = static_cast<double>(s.rows);
  const double rows_of_unit = std::ceil(rows / std::max<double>(1, static_cast<double>(s.units)));
  return {2 * s.heads * rows * s.n * s.result_bytes, s.slices,
          static_cast<double>(s.pieces) * rows_of_unit * s.row_bytes};
}

std::int64_t columns_of_g(const ReferenceProduct& p) { return p.variant.m != 0 ? p.variant.m : p.n; }

/// Returns one row of Z.
std::vector<ReferenceNumber> aggregate(const ReferenceProduct& p, const Operand& g, std::int64_t row) {
  const std::int64_t m = columns_of_g(p);
  std::vector<ReferenceNumber> z(static_cast<std::size_t>(m));
  const auto r = static_cast<std::size_t>(row);
  for (std::int64_t k = p.a.row_ptr[r]; k < p.a.row_ptr[r + 1]; ++k) {
    const double value = p.a.is_pattern() ? 1.0 : read_element(p.a.values.dtype, p.a.values.data, k);
    const std::int64_t from = p.a.col_idx[static_cast<std::size_t>(k)] * g.ld;
    for (std::int64_t j = 0; j < m; ++j) {
      const double product = value * read_element(p.types.operands, g.data, from + j);
      ReferenceNumber& to = z[static_cast<std::size_t>(j)];
      to.value += product;
      to.scale += std::fabs(product);
    }
  }
  return z;
}

/// Adds `factor` times z to `sum`.
void add(ReferenceNumber& sum, double factor, const ReferenceNumber& z) {
  sum.value += factor * z.value;
  sum.scale += std::fabs(factor) * z.scale;
}

void reference(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
               const ResultSink& sink) {
  const std::int64_t m = columns_of_g(p);
  const Operand &x = operands.dense[kLayerX], &w = operands.dense[kLayerW], &dw = operands.dense[kLayerDw],
                &dx = operands.dense[kLayerDx];
  const DType type = p.types.operands;
  std::vector<ReferenceNumber> of_w(static_cast<std::size_t>(p.n * m));
  for (std::int64_t r = 0; r < p.a.rows; ++r) {
    const std::vector<ReferenceNumber> z = aggregate(p, operands.dense[kLayerG], r);
    for (std::int64_t i = 0; i < p.n; ++i) {
      const double factor = operands.alpha * read_element(type, x.data, r * x.ld + i);
      ReferenceNumber of_x;
      for (std::int64_t j = 0; j < m; ++j) {
        const ReferenceNumber& of_z = z[static_cast<std::size_t>(j)];
        add(of_x, operands.alpha * read_element(type, w.data, i * w.ld + j), of_z);
        add(of_w[static_cast<std::size_t>(i * m + j)], factor, of_z);
      }
      sink(dx.data, p.types.result, r * dx.ld + i, of_x);
    }
  }
  for (std::int64_t i = 0; i < p.n; ++i)
    for (std::int64_t j = 0; j < m; ++j)
      sink(dw.data, p.types.result, i * dw.ld + j, of_w[static_cast<std::size_t>(i * m + j)]);
}

std::int64_t longest_sum(const ReferenceProduct& p) {
  return longest_row(p.a) + std::max(columns_of_g(p), p.a.rows);
}

}  // namespace

constexpr Operation kLayerGradient = {.name = "layer_gradient",
                                      .title = "gradient of a layer",
                                      .summary = "dX = (A G) W^T and dW = X^T (A G)",
                                      .operands = kOperands,
                                      .adds = false,
                                      .standalone = false,  // no plan chooses among its kernels
                                      .row_local = false,
                                      .work = work,
                                      .reference = reference,
                                      .longest_sum = longest_sum,
                                      .by_columns = true};

}  // namespace sptile::runtime
