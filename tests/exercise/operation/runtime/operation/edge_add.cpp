#include "runtime/operation/edge_add.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/reference/element.hpp"

namespace sptile::runtime {
namespace {

constexpr OperandSpec kOperands[] = {
    {"X", Extent::rows}, {"Y", Extent::cols}, {"out", Extent::entries, true}};

Work work(const ProductSizes& s) {
  return {static_cast<double>(s.rows) * s.row_bytes + static_cast<double>(s.nnz) * s.result_bytes, 1, 0};
}

void reference(const ReferenceProduct& p, const Operands& o, const void* before, const ResultSink& sink) {
  for (std::int64_t r = 0; r < p.a.rows; ++r)
    for (std::int64_t k = p.a.row_ptr[static_cast<std::size_t>(r)];
         k < p.a.row_ptr[static_cast<std::size_t>(r) + 1]; ++k) {
      const std::int64_t x = r * o.dense[0].ld, y = p.a.col_idx[static_cast<std::size_t>(k)] * o.dense[1].ld;
      double sum = 0, absolute = 0;
      for (std::int64_t j = 0; j < p.n; ++j) {
        const double a = read_element(p.types.operands, o.dense[0].data, x + j),
                     b = read_element(p.types.operands, o.dense[1].data, y + j);
        sum += a + b;
        absolute += std::fabs(a) + std::fabs(b);
      }
      sum += p.variant.shift;
      absolute += std::abs(p.variant.shift);
      const std::int64_t at = p.packed.empty() ? k : p.packed[static_cast<std::size_t>(k)];
      const double old = o.beta != 0 ? o.beta * read_element(p.types.result, before, at) : 0;
      sink(o.dense[2].data, p.types.result, at,
           {o.alpha * sum + old, std::fabs(o.alpha) * absolute + std::fabs(old)});
    }
}

std::int64_t longest_sum(const ReferenceProduct& p) { return 2 * p.n; }

}  // namespace

constexpr Operation kEdgeAdd = {.name = "edge_add",
                                .title = "edge add",
                                .summary = "sums of rows of X and Y at the entries of A",
                                .operands = kOperands,
                                .uses_values = false,
                                .work = work,
                                .reference = reference,
                                .longest_sum = longest_sum};

}  // namespace sptile::runtime
