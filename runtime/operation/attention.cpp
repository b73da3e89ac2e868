#include "runtime/operation/attention.hpp"

#include <algorithm>
#include <string>

#include "runtime/operation/attention_problem.hpp"
#include "runtime/reference/spmm.hpp"

namespace sptile::runtime {
namespace {

constexpr OperandSpec kOperands[] = {{"X", Extent::rows},
                                     {"Y", Extent::cols},
                                     {"V", Extent::cols, false, Width::m},
                                     {.name = "bias", .extent = Extent::entries, .optional = true},
                                     {.name = "statistics",
                                      .extent = Extent::rows,
                                      .result = true,
                                      .width = Width::two,
                                      .optional = true,
                                      .element = Element::statistic},
                                     {"out", Extent::rows, true, Width::m}};

/// Reads X and writes out once per row; no array has the size of the entries.
Work work(const ProductSizes& s) {
  const auto rows = static_cast<double>(s.rows);
  return {rows * s.heads * (s.n + s.m) * s.result_bytes};
}

void reference(const ReferenceProduct& p, const Operands& operands, const void* /*before*/,
               const ResultSink& sink) {
  attention(attention_problem(p), operands, sink);
}

}  // namespace

std::int64_t attention_sum(const ReferenceProduct& p) {
  const AttentionProblem problem = attention_problem(p);
  return longest_row(p.a) + 2 * problem.n + problem.m;
}

Status check_attention(const PlanOptions& options) {
  if (options.variant.score != Score::additive || options.n == 1) return {};
  return fail(Errc::usage, "the additive score requires n = 1, got " + std::to_string(options.n) +
                               "; pass the columns of V as m");
}

constexpr Operation kAttention = {.name = "attention",
                                  .title = "attention",
                                  .summary = "softmax(X Y^T at the entries of A) V",
                                  .operands = kOperands,
                                  .uses_values = false,
                                  .adds = false,
                                  .work = work,
                                  .reference = reference,
                                  .longest_sum = attention_sum,
                                  .check = check_attention};

}  // namespace sptile::runtime
