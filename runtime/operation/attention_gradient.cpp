#include "runtime/operation/attention_gradient.hpp"

#include "runtime/operation/attention_problem.hpp"

namespace sptile::runtime {
namespace {

constexpr OperandSpec kOperands[] = {
    {"X", Extent::rows},
    {"Y", Extent::cols},
    {"V", Extent::cols, false, Width::m},
    {.name = "bias", .extent = Extent::entries, .optional = true},
    {.name = "statistics", .extent = Extent::rows, .width = Width::two, .element = Element::statistic},
    {"out", Extent::rows, false, Width::m},
    {"dout", Extent::rows, false, Width::m},
    {.name = "delta",
     .extent = Extent::rows,
     .result = true,
     .width = Width::one,
     .element = Element::statistic},
    {.name = "dbias", .extent = Extent::entries, .result = true, .optional = true},
    {"dX", Extent::rows, true}};

/// Reads X, out and dout and writes dX once.
Work work(const ProductSizes& s) {
  const auto rows = static_cast<double>(s.rows);
  return {rows * s.heads * 2 * (s.n + s.m) * s.result_bytes};
}

void reference(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
               const ResultSink& sink) {
  attention_gradient(attention_problem(p), kRowsSide, operands, sink);
}

}  // namespace

constexpr Operation kAttentionGradient = {.name = "attention_gradient",
                                          .title = "gradient of attention for rows",
                                          .summary = "dX and delta of attention, from dout",
                                          .operands = kOperands,
                                          .uses_values = false,
                                          .adds = false,
                                          .standalone = false,
                                          .work = work,
                                          .reference = reference,
                                          .longest_sum = attention_sum,
                                          .check = check_attention};

}  // namespace sptile::runtime
