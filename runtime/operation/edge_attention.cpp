#include "runtime/operation/edge_attention.hpp"

#include "runtime/core/edge_attention_operands.hpp"
#include "runtime/operation/attention_problem.hpp"
#include "runtime/reference/edge_attention.hpp"

namespace sptile::runtime {
namespace {

constexpr OperandSpec kFactors = {.name = "factors", .extent = Extent::entries, .optional = true};
constexpr OperandSpec kEdgeRows = {
    .name = "edges", .extent = Extent::features, .width = Width::m, .shared = true};

constexpr OperandSpec statistics(bool result) {
  return {.name = "statistics",
          .extent = Extent::rows,
          .result = result,
          .width = Width::two,
          .optional = result,
          .element = Element::statistic};
}

constexpr OperandSpec kForwardOperands[] = {{"X", Extent::rows},
                                            {"Y", Extent::cols},
                                            {"V", Extent::cols},
                                            kFactors,
                                            statistics(true),
                                            kEdgeRows,
                                            {"X_edges", Extent::rows, false, Width::m},
                                            {"out_edges", Extent::rows, true, Width::m},
                                            {"out", Extent::rows, true}};
constexpr OperandSpec kGradientOperands[] = {
    {"X", Extent::rows},
    {"Y", Extent::cols},
    {"V", Extent::cols},
    kFactors,
    statistics(false),
    kEdgeRows,
    {"X_edges", Extent::rows, false, Width::m},
    {"out_edges", Extent::rows, false, Width::m},
    {"out", Extent::rows},
    {"dout_edges", Extent::rows, false, Width::m},
    {"dout", Extent::rows},
    {.name = "weights", .extent = Extent::entries, .result = true, .optional = true},
    {.name = "dscores", .extent = Extent::entries, .result = true, .optional = true},
    {.name = "dedges", .extent = Extent::features, .result = true, .width = Width::m, .optional = true},
    {"dX_edges", Extent::rows, true, Width::m},
    {"dX", Extent::rows, true}};

/// Reads the edges once for all heads. `rows`: rows that are read or written once per row of A.
Work work_of(const ProductSizes& s, double rows) {
  return {(static_cast<double>(s.rows) * s.heads * rows * (s.n + s.m) + static_cast<double>(s.nnz) * s.m) *
          s.result_bytes};
}
Work work_of_forward(const ProductSizes& s) { return work_of(s, 2); }
Work work_of_gradient(const ProductSizes& s) { return work_of(s, 4); }

void reference_of_forward(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
                          const ResultSink& sink) {
  edge_attention(attention_problem(p), operands, sink);
}
void reference_of_gradient(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
                           const ResultSink& sink) {
  edge_attention_gradient(attention_problem(p), operands, sink);
}

/// Dot products have n + m products.
std::int64_t longest_sum(const ReferenceProduct& p) { return attention_sum(p) + attention_problem(p).m; }

}  // namespace

constexpr Operation kEdgeAttention = {.name = "edge_attention",
                                      .title = "attention with edge features",
                                      .summary = "softmax(x . y + q . e at the entries of A) (V and E)",
                                      .operands = kForwardOperands,
                                      .uses_values = false,
                                      .adds = false,
                                      .work = work_of_forward,
                                      .reference = reference_of_forward,
                                      .longest_sum = longest_sum};

constexpr Operation kEdgeAttentionGradient = {
    .name = "edge_attention_gradient",
    .title = "gradient of attention with edge features",
    .summary = "dX, weights and dscores by entry, and dedges of edge_attention, from dout",
    .operands = kGradientOperands,
    .uses_values = false,
    .adds = false,
    .standalone = false,
    .work = work_of_gradient,
    .reference = reference_of_gradient,
    .longest_sum = longest_sum};

}  // namespace sptile::runtime
