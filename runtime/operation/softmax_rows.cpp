#include "runtime/operation/softmax_rows.hpp"

#include "runtime/reference/softmax.hpp"
#include "runtime/reference/spmm.hpp"

namespace sptile::runtime {
namespace {

constexpr OperandSpec kOperands[] = {{"S", Extent::entries}, {"P", Extent::entries, true}};

/// Both lists are accessed once.
Work work(const ProductSizes& s) { return {2 * static_cast<double>(s.nnz) * s.heads * s.result_bytes}; }

void reference(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
               const ResultSink& sink) {
  softmax_rows({p.a, p.packed, p.types}, operands, sink);
}

std::int64_t longest_sum(const ReferenceProduct& p) { return longest_row(p.a); }

}  // namespace

constexpr Operation kSoftmaxRows = {.name = "softmax_rows",
                                    .title = "softmax of rows",
                                    .summary = "P = softmax of the rows of S",
                                    .operands = kOperands,
                                    .uses_values = false,
                                    .adds = false,
                                    .work = work,
                                    .reference = reference,
                                    .longest_sum = longest_sum};

}  // namespace sptile::runtime
