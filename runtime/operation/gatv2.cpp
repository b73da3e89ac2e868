#include "runtime/operation/gatv2.hpp"

#include "runtime/core/gatv2_operands.hpp"
#include "runtime/operation/attention_problem.hpp"
#include "runtime/reference/gatv2.hpp"

namespace sptile::runtime {
namespace {

constexpr OperandSpec kBias = {.name = "bias", .extent = Extent::entries, .optional = true};
constexpr OperandSpec kFactors = {.name = "factors", .extent = Extent::entries, .optional = true};
constexpr OperandSpec kEdges = {.name = "edges", .extent = Extent::features, .optional = true};

constexpr OperandSpec statistics_of(Extent extent, bool result) {
  return {.name = "statistics",
          .extent = extent,
          .result = result,
          .width = Width::two,
          .optional = result,
          .element = Element::statistic};
}
constexpr OperandSpec delta_of(Extent extent, bool result) {
  return {.name = "delta",
          .extent = extent,
          .result = result,
          .width = Width::one,
          .element = Element::statistic};
}

constexpr OperandSpec kForwardOperands[] = {{"X", Extent::rows},
                                            {"Y", Extent::cols},
                                            {"a", Extent::one},
                                            kBias,
                                            statistics_of(Extent::rows, true),
                                            kFactors,
                                            kEdges,
                                            {"out", Extent::rows, true}};
constexpr OperandSpec kRowsOperands[] = {
    {"X", Extent::rows},
    {"Y", Extent::cols},
    {"a", Extent::one},
    kBias,
    statistics_of(Extent::rows, false),
    kFactors,
    kEdges,
    {"out", Extent::rows},
    {"dout", Extent::rows},
    delta_of(Extent::rows, true),
    {.name = "weights", .extent = Extent::entries, .result = true, .optional = true},
    {.name = "dedges", .extent = Extent::features, .result = true, .optional = true},
    {.name = "da_rows", .extent = Extent::rows, .result = true, .element = Element::statistic},
    {"dX", Extent::rows, true}};
constexpr OperandSpec kColumnsOperands[] = {{"X", Extent::cols},
                                            {"Y", Extent::rows},
                                            {"a", Extent::one},
                                            kBias,
                                            statistics_of(Extent::cols, false),
                                            kFactors,
                                            {"dout", Extent::cols},
                                            delta_of(Extent::cols, false),
                                            {"dY", Extent::rows, true}};

/// Reads X and writes out once per row; no array has the size of the entries.
Work work_of_forward(const ProductSizes& s) {
  return {static_cast<double>(s.rows) * s.heads * 2 * s.n * s.result_bytes};
}
/// Reads X, out and dout, and writes dX and da_rows once.
Work work_of_rows(const ProductSizes& s) {
  return {static_cast<double>(s.rows) * s.heads * 5 * s.n * s.result_bytes};
}
/// Reads Y and writes dY once.
Work work_of_columns(const ProductSizes& s) {
  return {static_cast<double>(s.rows) * s.heads * 2 * s.n * s.result_bytes};
}

void reference_of_forward(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
                          const ResultSink& sink) {
  gatv2(attention_problem(p), operands, sink);
}
void reference_of_rows(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
                       const ResultSink& sink) {
  gatv2_gradient(attention_problem(p), kGatv2Rows, operands, sink);
}
void reference_of_columns(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
                          const ResultSink& sink) {
  gatv2_gradient(attention_problem(p), kGatv2Columns, operands, sink);
}

}  // namespace

constexpr Operation kGatv2 = {.name = "gatv2",
                              .title = "GATv2 attention",
                              .summary = "softmax(a . leaky_relu(x + y + e) at the entries of A) Y",
                              .operands = kForwardOperands,
                              .uses_values = false,
                              .adds = false,
                              .work = work_of_forward,
                              .reference = reference_of_forward,
                              .longest_sum = attention_sum};

constexpr Operation kGatv2Gradient = {.name = "gatv2_gradient",
                                      .title = "gradient of GATv2 attention for rows",
                                      .summary = "dX, da by row, dedges and delta of gatv2, from dout",
                                      .operands = kRowsOperands,
                                      .uses_values = false,
                                      .adds = false,
                                      .standalone = false,
                                      .work = work_of_rows,
                                      .reference = reference_of_rows,
                                      .longest_sum = attention_sum};

constexpr Operation kGatv2GradientT = {.name = "gatv2_gradient_t",
                                       .title = "gradient of GATv2 attention for columns",
                                       .summary = "dY of gatv2 without edges, A being the transpose",
                                       .operands = kColumnsOperands,
                                       .uses_values = false,
                                       .adds = false,
                                       .standalone = false,
                                       .work = work_of_columns,
                                       .reference = reference_of_columns,
                                       .longest_sum = attention_sum};

}  // namespace sptile::runtime
