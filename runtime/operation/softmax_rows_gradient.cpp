#include "runtime/operation/softmax_rows_gradient.hpp"

#include "runtime/reference/softmax.hpp"
#include "runtime/reference/spmm.hpp"

namespace sptile::runtime {
namespace {

constexpr OperandSpec kOperands[] = {
    {"P", Extent::entries}, {"dP", Extent::entries}, {"dS", Extent::entries, true}};

/// The three lists are accessed once.
Work work(const ProductSizes& s) { return {3 * static_cast<double>(s.nnz) * s.heads * s.result_bytes}; }

void reference(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
               const ResultSink& sink) {
  softmax_rows_gradient({p.a, p.packed, p.types}, operands, sink);
}

std::int64_t longest_sum(const ReferenceProduct& p) { return longest_row(p.a); }

}  // namespace

constexpr Operation kSoftmaxRowsGradient = {.name = "softmax_rows_gradient",
                                            .title = "gradient of softmax of rows",
                                            .summary = "dS = P (dP - sum of P dP over the row)",
                                            .operands = kOperands,
                                            .uses_values = false,
                                            .adds = false,
                                            .standalone = false,
                                            .work = work,
                                            .reference = reference,
                                            .longest_sum = longest_sum};

}  // namespace sptile::runtime
