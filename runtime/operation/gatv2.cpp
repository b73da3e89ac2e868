#include "runtime/operation/gatv2.hpp"

#include "runtime/core/gatv2_operands.hpp"
#include "runtime/operation/attention_problem.hpp"
#include "runtime/operation/gatv2_specs.hpp"
#include "runtime/reference/gatv2.hpp"

namespace sptile::runtime {
namespace {

constexpr OperandSpec kEdges = {.name = "edges", .extent = Extent::features, .optional = true};

constexpr OperandSpec kForwardOperands[] = {{"X", Extent::rows},
                                            {"Y", Extent::cols},
                                            {"a", Extent::one},
                                            kGatv2Bias,
                                            gatv2_statistics(Extent::rows, true),
                                            kGatv2Factor,
                                            kEdges,
                                            {"out", Extent::rows, true}};
constexpr OperandSpec kRowsOperands[] = {
    {"X", Extent::rows},
    {"Y", Extent::cols},
    {"a", Extent::one},
    kGatv2Bias,
    gatv2_statistics(Extent::rows, false),
    kGatv2Factor,
    kEdges,
    {"out", Extent::rows},
    {"dout", Extent::rows},
    gatv2_delta(Extent::rows, true),
    {.name = "weights", .extent = Extent::entries, .result = true, .optional = true},
    {.name = "dedges", .extent = Extent::features, .result = true, .optional = true},
    kGatv2VectorRows,
    {"dX", Extent::rows, true}};
constexpr OperandSpec kColumnsOperands[] = {{"X", Extent::cols},
                                            {"Y", Extent::rows},
                                            {"a", Extent::one},
                                            kGatv2Bias,
                                            gatv2_statistics(Extent::cols, false),
                                            kGatv2Factor,
                                            {"dout", Extent::cols},
                                            gatv2_delta(Extent::cols, false),
                                            {"dY", Extent::rows, true}};

void reference_of_forward(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
                          const ResultSink& sink) {
  gatv2(attention_problem(p), false, operands, sink);
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
                              .work = gatv2_work,
                              .reference = reference_of_forward,
                              .longest_sum = attention_sum};

constexpr Operation kGatv2Gradient = {.name = "gatv2_gradient",
                                      .title = "gradient of GATv2 attention for rows",
                                      .summary = "dX, da by row, dedges and delta of gatv2, from dout",
                                      .operands = kRowsOperands,
                                      .uses_values = false,
                                      .adds = false,
                                      .standalone = false,
                                      .work = gatv2_rows_work,
                                      .reference = reference_of_rows,
                                      .longest_sum = attention_sum};

constexpr Operation kGatv2GradientT = {.name = "gatv2_gradient_t",
                                       .title = "gradient of GATv2 attention for columns",
                                       .summary = "dY of gatv2 without edges, A being the transpose",
                                       .operands = kColumnsOperands,
                                       .uses_values = false,
                                       .adds = false,
                                       .standalone = false,
                                       .work = gatv2_work,
                                       .reference = reference_of_columns,
                                       .longest_sum = attention_sum};

}  // namespace sptile::runtime
