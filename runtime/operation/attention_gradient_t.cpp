#include "runtime/operation/attention_gradient_t.hpp"

#include "runtime/operation/attention_problem.hpp"

namespace sptile::runtime {
namespace {

constexpr OperandSpec kOperands[] = {
    {"X", Extent::cols},
    {"Y", Extent::rows},
    {"V", Extent::rows, false, Width::m},
    {.name = "bias", .extent = Extent::entries, .optional = true},
    {.name = "statistics", .extent = Extent::cols, .width = Width::two, .element = Element::statistic},
    {"dout", Extent::cols, false, Width::m},
    {.name = "delta", .extent = Extent::cols, .width = Width::one, .element = Element::statistic},
    {"dV", Extent::rows, true, Width::m},
    {"dY", Extent::rows, true}};

/// Reads Y and V and writes their gradients once.
Work work(const ProductSizes& s) {
  const auto rows = static_cast<double>(s.rows);
  return {rows * s.heads * 2 * (s.n + s.m) * s.result_bytes};
}

void reference(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
               const ResultSink& sink) {
  attention_gradient(attention_problem(p), kColumnsSide, operands, sink);
}

}  // namespace

constexpr Operation kAttentionGradientT = {.name = "attention_gradient_t",
                                           .title = "gradient of attention for columns",
                                           .summary = "dV and dY of attention, A being the transpose",
                                           .operands = kOperands,
                                           .uses_values = false,
                                           .adds = false,
                                           .standalone = false,
                                           .work = work,
                                           .reference = reference,
                                           .longest_sum = attention_sum,
                                           .check = check_attention};

}  // namespace sptile::runtime
