#include "runtime/operation/spmm.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/reference/spmm.hpp"

namespace sptile::runtime {
namespace {

constexpr OperandSpec kOperands[] = {{"B", Extent::cols}, {"C", Extent::rows, true}};

/// The format is decoded once per slice. Each segment has partial sums of all rows of its unit.
Work work(const ProductSizes& s) {
  const auto rows = static_cast<double>(s.rows);
  const double rows_of_unit = std::ceil(rows / std::max<double>(1, static_cast<double>(s.units)));
  return {rows * s.n * s.result_bytes, s.slices, static_cast<double>(s.pieces) * rows_of_unit * s.row_bytes};
}

void reference(const ReferenceProduct& p, const Operands& operands, const void* before,
               const ResultSink& sink) {
  spmm_numbers(p.a, p.n, p.types, to_spmm(operands), before, sink);
}

std::int64_t longest_sum(const ReferenceProduct& p) { return longest_row(p.a); }

}  // namespace

constexpr Operation kSpmm = {.name = "spmm",
                             .title = "SpMM",
                             .summary = "C = A B",
                             .operands = kOperands,
                             .work = work,
                             .reference = reference,
                             .longest_sum = longest_sum};

}  // namespace sptile::runtime
