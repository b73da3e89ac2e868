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

/// Calls f(place in out, sum, sum of absolute numbers) for each entry.
template <class F>
void for_each_sum(const ReferenceProduct& p, const Operands& o, F f) {
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
      f(p.packed.empty() ? k : p.packed[static_cast<std::size_t>(k)], o.alpha * sum,
        std::fabs(o.alpha) * absolute);
    }
}

void reference(const ReferenceProduct& p, const Operands& o) {
  for_each_sum(p, o, [&](std::int64_t at, double sum, double) {
    if (o.beta != 0) sum += o.beta * read_element(p.types.result, o.dense[2].data, at);
    write_element(p.types.result, o.dense[2].data, at, sum);
  });
}

double error(const ReferenceProduct& p, const Operands& computed, const void* before) {
  double worst = 0;
  for_each_sum(p, computed, [&](std::int64_t at, double sum, double absolute) {
    const double old = computed.beta != 0 ? computed.beta * read_element(p.types.result, before, at) : 0;
    worst = std::max(worst,
                     element_error(p.types.result, read_element(p.types.result, computed.dense[2].data, at),
                                   sum + old, absolute + std::fabs(old)));
  });
  return worst;
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
                                .error = error,
                                .longest_sum = longest_sum};

}  // namespace sptile::runtime
