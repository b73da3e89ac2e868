// Replacement of the values of a plan's matrix.
#include "runtime/plan/product_plan.hpp"

namespace sptile::runtime {

Status refresh_packed(ProductPlan& plan, ArrayView values, void* stream) {
  if (Status s = check_process(plan, "refresh"); !s) return s;
  return refresh_packed(*plan.held, values, stream);
}

Status refresh_values(ProductPlan& plan, ArrayView values) {
  if (Status s = check_process(plan, "refresh"); !s) return s;
  return refresh_values(*plan.held, values, nullptr);
}

}  // namespace sptile::runtime
