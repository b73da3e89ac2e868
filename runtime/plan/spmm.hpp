// SpMM with named operands: C = alpha * A * B + beta * C.
#pragma once

#include "runtime/operation/spmm.hpp"
#include "runtime/plan/plan.hpp"

namespace sptile::runtime {

inline Result<std::shared_ptr<ProductPlan>> plan_spmm(const PlanMatrix& a, const PlanOptions& options) {
  return plan_product(kSpmm, a, options);
}

inline Status run(const ProductPlan& plan, const SpmmOperands& operands, void* stream = nullptr) {
  return run(plan, kSpmm, to_operands(operands), stream);
}

inline Result<std::vector<double>> timed_run(const ProductPlan& plan, const SpmmOperands& host, int warmup,
                                             int repeat) {
  return timed_run(plan, kSpmm, to_operands(host), warmup, repeat);
}

}  // namespace sptile::runtime
