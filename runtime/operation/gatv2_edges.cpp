#include "runtime/operation/gatv2_edges.hpp"

#include <string>

#include "runtime/core/gatv2_operands.hpp"
#include "runtime/operation/attention_problem.hpp"
#include "runtime/operation/gatv2_specs.hpp"
#include "runtime/reference/gatv2.hpp"

namespace sptile::runtime {
namespace {

constexpr OperandSpec kFeatures = {
    .name = "features", .extent = Extent::features, .width = Width::m, .shared = true};
constexpr OperandSpec kW = {.name = "W", .extent = Extent::inner, .width = Width::m};

constexpr OperandSpec kFeaturesOperands[] = {{"X", Extent::rows},
                                             {"Y", Extent::cols},
                                             {"a", Extent::one},
                                             kGatv2Bias,
                                             gatv2_statistics(Extent::rows, true),
                                             kGatv2Factor,
                                             kFeatures,
                                             kW,
                                             {"out", Extent::rows, true}};
constexpr OperandSpec kFeaturesRowsOperands[] = {
    {"X", Extent::rows},
    {"Y", Extent::cols},
    {"a", Extent::one},
    kGatv2Bias,
    gatv2_statistics(Extent::rows, false),
    kGatv2Factor,
    kFeatures,
    kW,
    {"out", Extent::rows},
    {"dout", Extent::rows},
    gatv2_delta(Extent::rows, true),
    {.name = "ds", .extent = Extent::entries, .result = true, .element = Element::statistic},
    kGatv2VectorRows,
    {"dX", Extent::rows, true}};
constexpr OperandSpec kFeaturesColumnsOperands[] = {{"X", Extent::cols},
                                                    {"Y", Extent::rows},
                                                    {"a", Extent::one},
                                                    kGatv2Bias,
                                                    gatv2_statistics(Extent::cols, false),
                                                    kGatv2Factor,
                                                    kFeatures,
                                                    kW,
                                                    {"dout", Extent::cols},
                                                    gatv2_delta(Extent::cols, false),
                                                    {"dY", Extent::rows, true}};
constexpr OperandSpec kFeaturesWeightsOperands[] = {
    {"X", Extent::rows},
    {"Y", Extent::cols},
    {"a", Extent::one},
    {.name = "ds", .extent = Extent::entries, .element = Element::statistic},
    kFeatures,
    kW,
    {.name = "dW", .extent = Extent::inner, .result = true, .width = Width::m}};

/// Reads each feature once; the heads share them.
Work with_features(Work work, const ProductSizes& s) {
  work.streamed += static_cast<double>(s.nnz) * s.m * s.result_bytes;
  return work;
}
Work work_of_features(const ProductSizes& s) { return with_features(gatv2_work(s), s); }
Work work_of_features_rows(const ProductSizes& s) { return with_features(gatv2_rows_work(s), s); }

void reference_of_features(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
                           const ResultSink& sink) {
  gatv2(attention_problem(p), true, operands, sink);
}
void reference_of_features_rows(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
                                const ResultSink& sink) {
  gatv2_gradient(attention_problem(p), kGatv2EdgesRows, operands, sink);
}
void reference_of_features_columns(const ReferenceProduct& p, const Operands& operands,
                                   const void* /*before*/, const ResultSink& sink) {
  gatv2_gradient(attention_problem(p), kGatv2EdgesColumns, operands, sink);
}
void reference_of_features_weights(const ReferenceProduct& p, const Operands& operands,
                                   const void* /*before*/, const ResultSink& sink) {
  gatv2_weights(attention_problem(p), operands, sink);
}

std::int64_t sum_of_entries(const ReferenceProduct& p) { return p.a.nnz() + p.variant.m; }

Status check_features(const PlanOptions& options) {
  const std::int64_t m = options.variant.m != 0 ? options.variant.m : options.n;
  if (m <= kMostFeatures) return {};
  return fail(Errc::usage,
              "m = " + std::to_string(m) + " features per entry; at most " + std::to_string(kMostFeatures) +
                  " are supported. Pass m, which is n by default, or multiply them by W and use gatv2");
}

}  // namespace

constexpr Operation kGatv2WithFeatures = {
    .name = "gatv2_edges",
    .title = "GATv2 attention with features of entries",
    .summary = "softmax(a . leaky_relu(x + y + W f) at the entries of A) Y",
    .operands = kFeaturesOperands,
    .uses_values = false,
    .adds = false,
    .standalone = false,  // no plan chooses among its kernels
    .work = work_of_features,
    .reference = reference_of_features,
    .longest_sum = attention_sum,
    .check = check_features};

constexpr Operation kGatv2WithFeaturesGradient = {
    .name = "gatv2_edges_gradient",
    .title = "gradient of GATv2 attention with features for rows",
    .summary = "dX, da by row, ds and delta of gatv2_edges, from dout",
    .operands = kFeaturesRowsOperands,
    .uses_values = false,
    .adds = false,
    .standalone = false,
    .work = work_of_features_rows,
    .reference = reference_of_features_rows,
    .longest_sum = attention_sum,
    .check = check_features};

constexpr Operation kGatv2WithFeaturesGradientT = {
    .name = "gatv2_edges_gradient_t",
    .title = "gradient of GATv2 attention with features for columns",
    .summary = "dY of gatv2_edges, A being the transpose",
    .operands = kFeaturesColumnsOperands,
    .uses_values = false,
    .adds = false,
    .standalone = false,
    .work = work_of_features,
    .reference = reference_of_features_columns,
    .longest_sum = attention_sum,
    .check = check_features};

constexpr Operation kGatv2WithFeaturesWeights = {
    .name = "gatv2_edges_weights",
    .title = "gradient of GATv2 attention for the weights of features",
    .summary = "dW of gatv2_edges, from ds",
    .operands = kFeaturesWeightsOperands,
    .uses_values = false,
    .adds = false,
    .standalone = false,
    .row_local = false,
    .work = work_of_features,
    .reference = reference_of_features_weights,
    .longest_sum = sum_of_entries,
    .check = check_features,
    .by_columns = true};

}  // namespace sptile::runtime
