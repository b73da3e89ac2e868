#include "runtime/plan/sddmm.hpp"

#include "runtime/plan/product_plan.hpp"

namespace sptile::runtime {
namespace {

Status check_operands(const ProductPlan& plan, const SddmmOperands& operands) {
  const formats::FormatView& a = plan.matrix.format;
  if (Status s = check_operation(plan, "sddmm"); !s) return s;
  if (Status s = check_operand(plan, "X", operands.x, operands.ldx, a.rows); !s) return s;
  if (Status s = check_operand(plan, "Y", operands.y, operands.ldy, a.cols); !s) return s;
  if (operands.out == nullptr && a.nnz > 0)
    return fail(Errc::usage, "sddmm: out is null; pass room for one number per entry");
  return {};
}

SddmmTask task_of(const ProductPlan& plan, const SddmmOperands& operands) {
  SddmmTask task{matrix_task(plan)};
  task.x = operands.x;
  task.ldx = operands.ldx;
  task.y = operands.y;
  task.ldy = operands.ldy;
  task.n = plan.options.n;
  task.out = operands.out;
  task.alpha = operands.alpha;
  task.beta = operands.beta;
  task.scaled = operands.scaled;
  task.values = plan.values;
  return task;
}

}  // namespace

Result<std::shared_ptr<ProductPlan>> plan_sddmm(const PlanMatrix& a, const PlanOptions& options) {
  return plan_product("sddmm", a, options);
}

Status run(const ProductPlan& plan, const SddmmOperands& operands, void* stream) noexcept {
  if (Status s = check_operands(plan, operands); !s) return s;
  if (plan.on_device) return cuda::run(*plan.on_device, operands, stream);
  if (stream != nullptr) return fail(Errc::usage, "sddmm: a plan for the CPU takes no stream");
  run_chunks(plan, task_of(plan, operands));
  return {};
}

Result<std::vector<double>> timed_run(const ProductPlan& plan, const SddmmOperands& host, int warmup,
                                      int repeat) {
  if (Status s = check_operands(plan, host); !s) return tl::unexpected(s.error());
  if (plan.on_device) return cuda::run_from_host(*plan.on_device, host, warmup, repeat);
  return time_chunks(plan, task_of(plan, host), warmup, repeat);
}

}  // namespace sptile::runtime
