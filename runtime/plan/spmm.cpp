#include "runtime/plan/spmm.hpp"

#include "runtime/plan/product_plan.hpp"

namespace sptile::runtime {
namespace {

Status check_operands(const ProductPlan& plan, const SpmmOperands& operands) {
  const formats::FormatView& a = plan.matrix.format;
  if (Status s = check_operation(plan, "spmm"); !s) return s;
  const std::size_t needed = workspace_bytes(plan);
  if (operands.workspace != nullptr && operands.workspace_size < needed)
    return fail(Errc::usage, "spmm: the workspace has " + std::to_string(operands.workspace_size) +
                                 " bytes, runs of this plan need " + std::to_string(needed));
  if (Status s = check_operand(plan, "B", operands.b, operands.ldb, a.cols); !s) return s;
  return check_operand(plan, "C", operands.c, operands.ldc, a.rows);
}

SpmmTask task_of(const ProductPlan& plan, const SpmmOperands& operands) {
  SpmmTask task{matrix_task(plan)};
  task.b = operands.b;
  task.ldb = operands.ldb;
  task.c = operands.c;
  task.ldc = operands.ldc;
  task.alpha = operands.alpha;
  task.beta = operands.beta;
  return task;
}

}  // namespace

Result<std::shared_ptr<ProductPlan>> plan_spmm(const PlanMatrix& a, const PlanOptions& options) {
  return plan_product("spmm", a, options);
}

Status run(const ProductPlan& plan, const SpmmOperands& operands, void* stream) noexcept {
  if (Status s = check_operands(plan, operands); !s) return s;
  if (plan.on_device) return cuda::run(*plan.on_device, operands, stream);
  if (stream != nullptr) return fail(Errc::usage, "spmm: a plan for the CPU takes no stream");

  run_chunks(plan, task_of(plan, operands));
  return {};
}

Result<std::vector<double>> timed_run(const ProductPlan& plan, const SpmmOperands& host, int warmup,
                                      int repeat) {
  if (Status s = check_operands(plan, host); !s) return tl::unexpected(s.error());
  if (plan.on_device) return cuda::run_from_host(*plan.on_device, host, warmup, repeat);
  return time_chunks(plan, task_of(plan, host), warmup, repeat);
}

}  // namespace sptile::runtime
