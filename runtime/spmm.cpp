#include "runtime/spmm.hpp"

#include <chrono>

#include "runtime/product_plan.hpp"

namespace sptile::runtime {
namespace {

Status check_operands(const ProductPlan& plan, const SpmmOperands& operands) {
  const formats::FormatView& a = plan.matrix.format;
  if (Status s = check_operation(plan, "spmm"); !s) return s;
  if (Status s = check_operand(plan, "B", operands.b, operands.ldb, a.cols); !s) return s;
  return check_operand(plan, "C", operands.c, operands.ldc, a.rows);
}

SpmmTask task_of(const ProductPlan& plan, const SpmmOperands& operands) {
  SpmmTask task;
  task.format = plan.matrix.format;
  task.row_order = plan.matrix.row_order.empty() ? nullptr : plan.matrix.row_order.data();
  task.empty_rows = plan.empty_rows.data();
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

  const SpmmTask task = task_of(plan, operands);
  const auto chunks = static_cast<std::int64_t>(plan.chunks.size());
  if (plan.threads <= 1) {
    for (const Chunk& chunk : plan.chunks) plan.run_chunk(task, chunk);
    return {};
  }
#pragma omp parallel for schedule(dynamic, 1) num_threads(plan.threads)
  for (std::int64_t i = 0; i < chunks; ++i) plan.run_chunk(task, plan.chunks[static_cast<std::size_t>(i)]);
  return {};
}

Result<std::vector<double>> timed_run(const ProductPlan& plan, const SpmmOperands& host, int warmup,
                                      int repeat) {
  if (Status s = check_operands(plan, host); !s) return tl::unexpected(s.error());
  if (plan.on_device) return cuda::run_from_host(*plan.on_device, host, warmup, repeat);
  std::vector<double> seconds;
  for (int i = -warmup; i < repeat; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (Status s = run(plan, host); !s) return tl::unexpected(s.error());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (i >= 0) seconds.push_back(took.count());
  }
  return seconds;
}

}  // namespace sptile::runtime
