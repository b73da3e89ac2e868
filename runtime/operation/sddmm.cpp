#include "runtime/operation/sddmm.hpp"

#include <algorithm>

#include "runtime/reference/sddmm.hpp"

namespace sptile::runtime {
namespace {

constexpr OperandSpec kOperands[] = {
    {"X", Extent::rows}, {"Y", Extent::cols}, {"out", Extent::entries, true}};

/// The format is decoded once and units are not split. Rows of X without entries are not read.
Work work(const ProductSizes& s) {
  const auto rows = static_cast<double>(std::min(s.rows, s.nnz));
  return {rows * s.row_bytes + static_cast<double>(s.nnz) * s.result_bytes, 1, 0};
}

void reference(const ReferenceProduct& p, const Operands& operands, const void* before,
               const ResultSink& sink) {
  sddmm_numbers(p.a, p.packed, p.n, p.types, to_sddmm(operands), before, sink);
}

std::int64_t longest_sum(const ReferenceProduct& p) { return p.n; }

}  // namespace

constexpr Operation kSddmm = {.name = "sddmm",
                              .title = "SDDMM",
                              .summary = "X Y^T at the entries of A",
                              .operands = kOperands,
                              .uses_values = false,
                              .work = work,
                              .reference = reference,
                              .longest_sum = longest_sum};

}  // namespace sptile::runtime
