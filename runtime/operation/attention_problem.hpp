// Helpers of attention and its gradients.
#pragma once

#include "runtime/operation/operation.hpp"
#include "runtime/reference/attention.hpp"

namespace sptile::runtime {

/// Returns the sizes and operands of a problem.
inline AttentionProblem attention_problem(const ReferenceProduct& p) {
  const std::int64_t m = p.variant.m != 0 ? p.variant.m : p.n;
  return {p.a, p.n, m, p.types, p.variant.score, p.packed};
}

/// Returns the number of products summed for one element: those of the dot products (for cosines, of the
/// lengths too) and of its row.
std::int64_t attention_sum(const ReferenceProduct& p);

/// Errc::usage if the score requires another n.
Status check_attention(const PlanOptions& options);

}  // namespace sptile::runtime
