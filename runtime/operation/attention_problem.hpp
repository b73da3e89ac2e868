// What attention and its gradients have in common.
#pragma once

#include "runtime/operation/operation.hpp"
#include "runtime/reference/attention.hpp"

namespace sptile::runtime {

/// The sizes of a problem.
inline AttentionProblem attention_problem(const ReferenceProduct& p) {
  const std::int64_t m = p.variant.m != 0 ? p.variant.m : p.n;
  return {p.a, p.n, m, p.types, p.variant.score, p.packed};
}

/// Products in the sums behind an element: the dot products (of cosines, lengths, too), and its row.
std::int64_t attention_sum(const ReferenceProduct& p);

/// Errc::usage where a score does not go with n.
Status check_attention(const PlanOptions& options);

}  // namespace sptile::runtime
