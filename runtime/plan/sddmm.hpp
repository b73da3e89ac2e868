// SDDMM with named operands: out = alpha * (X Y^T) at the entries of A + beta * out.
#pragma once

#include "runtime/operation/sddmm.hpp"
#include "runtime/plan/plan.hpp"

namespace sptile::runtime {

/// Plans an SDDMM. PlanOptions::n is the number of columns of X and Y, PlanOptions::dense their type, and
/// PlanOptions::result the type of the result.
inline Result<std::shared_ptr<ProductPlan>> plan_sddmm(const PlanMatrix& a, const PlanOptions& options) {
  return plan_product(kSddmm, a, options);
}

inline Status run(const ProductPlan& plan, const SddmmOperands& operands, void* stream = nullptr) {
  return run(plan, kSddmm, to_operands(operands), stream);
}

inline Result<std::vector<double>> timed_run(const ProductPlan& plan, const SddmmOperands& host, int warmup,
                                             int repeat) {
  return timed_run(plan, kSddmm, to_operands(host), warmup, repeat);
}

}  // namespace sptile::runtime
