#include "runtime/operation/update_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/reference/element.hpp"

namespace sptile::runtime {
namespace {

constexpr OperandSpec kOperands[] = {
    {.name = "Z", .extent = Extent::rows},
    {.name = "dC", .extent = Extent::rows, .width = Width::m},
    {.name = "C", .extent = Extent::rows, .width = Width::m, .optional = true},
    {.name = "G",
     .extent = Extent::rows,
     .result = true,
     .width = Width::m,
     .optional = true,
     .element = Element::operand},
    {.name = "dbias", .extent = Extent::one, .result = true, .width = Width::m, .optional = true},
    {.name = "dW", .extent = Extent::inner, .result = true, .width = Width::m}};

/// Reads rows of Z, dC and C once; no rows are gathered.
Work work(const ProductSizes& s) {
  const auto rows = static_cast<double>(s.rows);
  return {s.heads * rows * (s.n + 2 * s.m) * s.result_bytes, 0, 0};
}

/// Returns dC multiplied by the derivative of the activation, which is 0 or 1.
double gradient_at(const ReferenceProduct& p, const Operands& operands, std::int64_t row, std::int64_t j) {
  const Operand &dc = operands.dense[kGradientDc], &c = operands.dense[kGradientC];
  const bool through =
      p.variant.activation == Activation::none || read_element(p.types.operands, c.data, row * c.ld + j) > 0;
  return through ? read_element(p.types.operands, dc.data, row * dc.ld + j) : 0;
}

std::int64_t columns_of_dc(const ReferenceProduct& p) { return p.variant.m != 0 ? p.variant.m : p.n; }

/// Returns dW in row-major order, followed by dbias.
std::vector<ReferenceNumber> all_sums(const ReferenceProduct& p, const Operands& operands) {
  const std::int64_t m = columns_of_dc(p);
  const Operand& z = operands.dense[kGradientZ];
  std::vector<ReferenceNumber> sums(static_cast<std::size_t>((p.n + 1) * m));
  for (std::int64_t r = 0; r < p.a.rows; ++r)
    for (std::int64_t j = 0; j < m; ++j) {
      const double g = gradient_at(p, operands, r, j);
      for (std::int64_t i = 0; i <= p.n; ++i) {
        const double factor =
            i == p.n ? 1 : operands.alpha * read_element(p.types.operands, z.data, r * z.ld + i);
        ReferenceNumber& to = sums[static_cast<std::size_t>(i * m + j)];
        to.value += factor * g;
        to.scale += std::fabs(factor * g);
      }
    }
  return sums;
}

void reference(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
               const ResultSink& sink) {
  const std::int64_t m = columns_of_dc(p);
  const std::vector<ReferenceNumber> sums = all_sums(p, operands);
  const Operand &g = operands.dense[kGradientG], &dbias = operands.dense[kGradientDbias],
                &dw = operands.dense[kGradientDw];
  for (std::int64_t r = 0; r < p.a.rows && g.data != nullptr; ++r)
    for (std::int64_t j = 0; j < m; ++j) {
      const double exact = gradient_at(p, operands, r, j);
      sink(g.data, p.types.operands, r * g.ld + j, {exact, std::fabs(exact)});
    }
  for (std::int64_t j = 0; j < m && dbias.data != nullptr; ++j)
    sink(dbias.data, p.types.result, j, sums[static_cast<std::size_t>(p.n * m + j)]);
  for (std::int64_t i = 0; i < p.n; ++i)
    for (std::int64_t j = 0; j < m; ++j)
      sink(dw.data, p.types.result, i * dw.ld + j, sums[static_cast<std::size_t>(i * m + j)]);
}

std::int64_t longest_sum(const ReferenceProduct& p) { return p.a.rows; }

Status check_run(const PlanOptions& options, const Operands& operands) {
  if (options.variant.activation == Activation::none || operands.dense[kGradientC].data != nullptr) return {};
  return fail(Errc::usage,
              "C is null; pass the output of the layer, which determines the derivative of relu");
}

}  // namespace

constexpr Operation kUpdateGradient = {.name = "update_gradient",
                                       .title = "gradient of an update",
                                       .summary = "dW = Z^T G with G = dC act'(C)",
                                       .operands = kOperands,
                                       .uses_values = false,
                                       .adds = false,
                                       .row_local = false,
                                       .work = work,
                                       .reference = reference,
                                       .longest_sum = longest_sum,
                                       .check_run = check_run,
                                       .by_columns = true};

}  // namespace sptile::runtime
