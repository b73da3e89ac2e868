#include "runtime/operation/spmm_update.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/reference/element.hpp"
#include "runtime/reference/spmm.hpp"

namespace sptile::runtime {
namespace {

constexpr OperandSpec kOperands[] = {
    {.name = "B", .extent = Extent::cols},
    {.name = "W", .extent = Extent::inner, .width = Width::m, .shared = true},
    {.name = "bias", .extent = Extent::one, .width = Width::m, .optional = true, .shared = true},
    {.name = "Z", .extent = Extent::rows, .result = true, .optional = true, .element = Element::operand},
    {.name = "C", .extent = Extent::rows, .result = true, .width = Width::m}};

/// Equals that of SpMM, except that the result has m columns. Loads of W are not counted, because it stays in
/// the caches.
Work work(const ProductSizes& s) {
  const auto rows = static_cast<double>(s.rows);
  const double rows_of_unit = std::ceil(rows / std::max<double>(1, static_cast<double>(s.units)));
  return {s.heads * rows * s.m * s.result_bytes, s.slices,
          static_cast<double>(s.pieces) * rows_of_unit * s.row_bytes};
}

/// A sum, and the value to which its rounding errors are proportional.
struct Sum {
  double sum = 0, absolute = 0;
  double slack = 0;  ///< change of the sum when Z is rounded to 16 bits
};

/// Returns element (i, j) of W, transposed if requested.
double weight(const ReferenceProduct& p, const Operand& w, std::int64_t i, std::int64_t j) {
  return read_element(p.types.operands, w.data, p.variant.transposed_weights ? j * w.ld + i : i * w.ld + j);
}

/// Returns one row of Z.
std::vector<Sum> aggregate(const ReferenceProduct& p, const Operand& b, std::int64_t row) {
  std::vector<Sum> z(static_cast<std::size_t>(p.n));
  const auto r = static_cast<std::size_t>(row);
  for (std::int64_t k = p.a.row_ptr[r]; k < p.a.row_ptr[r + 1]; ++k) {
    const double value = p.a.is_pattern() ? 1.0 : read_element(p.a.values.dtype, p.a.values.data, k);
    const std::int64_t from = p.a.col_idx[static_cast<std::size_t>(k)] * b.ld;
    for (std::int64_t j = 0; j < p.n; ++j) {
      const double product = value * read_element(p.types.operands, b.data, from + j);
      z[static_cast<std::size_t>(j)].sum += product;
      z[static_cast<std::size_t>(j)].absolute += std::fabs(product);
    }
  }
  return z;
}

/// Returns the change of an element of Z when it is rounded to the type of the operands, if that has 16 bits.
double slack_of_z(const ReferenceProduct& p, double z) {
  return size_of(p.types.operands) == 2 ? rounding_slack(p.types.operands, z) : 0;
}

/// Returns element j of a row of C.
Sum update(const ReferenceProduct& p, const Operands& operands, const std::vector<Sum>& z, std::int64_t j) {
  Sum c;
  for (std::int64_t i = 0; i < p.n; ++i) {
    const double w = weight(p, operands.dense[kUpdateW], i, j);
    const Sum& of = z[static_cast<std::size_t>(i)];
    c.sum += of.sum * w;
    c.absolute += of.absolute * std::fabs(w);
    c.slack += slack_of_z(p, of.sum) * std::fabs(w);
  }
  const Operand& bias = operands.dense[kUpdateBias];
  const double added = bias.data != nullptr ? read_element(p.types.operands, bias.data, j) : 0;
  const double scale = std::fabs(operands.alpha);
  c = {operands.alpha * c.sum + added, scale * c.absolute + std::fabs(added), scale * c.slack};
  if (p.variant.activation == Activation::relu && c.sum < 0) c.sum = 0;
  return c;
}

std::int64_t columns_of_c(const ReferenceProduct& p) { return p.variant.m != 0 ? p.variant.m : p.n; }

void reference(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
               const ResultSink& sink) {
  const Operand &z = operands.dense[kUpdateZ], &c = operands.dense[kUpdateC];
  for (std::int64_t r = 0; r < p.a.rows; ++r) {
    const std::vector<Sum> row = aggregate(p, operands.dense[kUpdateB], r);
    for (std::int64_t j = 0; j < p.n && z.data != nullptr; ++j) {
      const Sum& of = row[static_cast<std::size_t>(j)];
      // The tolerance contains the rounding of the result, which may be f32, but not that of Z.
      sink(z.data, p.types.operands, r * z.ld + j, {of.sum, of.absolute, slack_of_z(p, of.sum)});
    }
    for (std::int64_t j = 0; j < columns_of_c(p); ++j) {
      const Sum sum = update(p, operands, row, j);
      sink(c.data, p.types.result, r * c.ld + j, {sum.sum, sum.absolute, sum.slack});
    }
  }
}

std::int64_t longest_sum(const ReferenceProduct& p) { return longest_row(p.a) + p.n + 1; }

}  // namespace

constexpr Operation kSpmmUpdate = {.name = "spmm_update",
                                   .title = "SpMM with update",
                                   .summary = "C = act(A B W + bias)",
                                   .operands = kOperands,
                                   .adds = false,
                                   .work = work,
                                   .reference = reference,
                                   .longest_sum = longest_sum};

}  // namespace sptile::runtime
