// Running a plan.
#include <chrono>
#include <string>

#include "runtime/fork.hpp"
#include "runtime/plan/product_plan.hpp"

namespace sptile::runtime {
namespace {

Status check_operation(const ProductPlan& plan, const Operation& op) {
  if (plan.op == &op) return check_process(plan, op.name);
  const std::string name(op.name);
  return fail(Errc::usage, name + ": the plan was made for " + std::string(plan.op->name) + "; plan " + name);
}

std::int64_t columns_of(const ProductPlan& plan, const Operands& operands) {
  return operands.n != 0 ? operands.n : plan.options.n;
}

/// Verifies that a row-major operand of n columns and so many rows is there and can be addressed.
Status check_rows(const ProductPlan& plan, const OperandSpec& spec, const Operand& operand, std::int64_t rows,
                  std::int64_t n) {
  const std::string prefix = std::string(plan.op->name) + ": ", name(spec.name);
  if (operand.data == nullptr && rows > 0)
    return fail(Errc::usage, prefix + name + " is null; pass a row-major matrix");
  if (operand.ld < n)
    return fail(Errc::usage, prefix + "the leading dimension of " + name + ", " + std::to_string(operand.ld) +
                                 ", is less than its " + std::to_string(n) + " columns");
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(rows, operand.ld, &bytes) ||
      __builtin_mul_overflow(bytes, static_cast<std::int64_t>(size_of(type_of(spec, types_of(plan.options)))),
                             &bytes))
    return fail(Errc::usage, prefix + "the leading dimension of " + name + ", " + std::to_string(operand.ld) +
                                 ", takes the matrix past 2^63 bytes");
  return {};
}

Status check_operand(const ProductPlan& plan, const OperandSpec& spec, const Operand& operand,
                     std::int64_t n) {
  const formats::FormatView& a = plan.matrix.format;
  const std::int64_t extent = extent_of(spec, a.rows, a.cols, a.nnz);
  if (spec.extent != Extent::entries) return check_rows(plan, spec, operand, extent, n);
  if (operand.data != nullptr || extent == 0) return {};
  return fail(Errc::usage, std::string(plan.op->name) + ": " + std::string(spec.name) +
                               " is null; pass room for one number per entry");
}

Status check_columns(const ProductPlan& plan, std::int64_t n) {
  if (n >= 1 && n <= plan.options.n) return {};
  const std::string planned = std::to_string(plan.options.n);
  return fail(Errc::usage, std::string(plan.op->name) + ": n = " + std::to_string(n) +
                               ", but the plan serves 1 to " + planned +
                               (n > plan.options.n ? "; plan for n = " + std::to_string(n) : ""));
}

Status check_operands(const ProductPlan& plan, const Operation& op, const Operands& operands) {
  if (Status s = check_operation(plan, op); !s) return s;
  const std::int64_t n = columns_of(plan, operands);
  if (Status s = check_columns(plan, n); !s) return s;
  const std::size_t needed = workspace_bytes(plan);
  if (operands.workspace != nullptr && operands.workspace_size < needed)
    return fail(Errc::usage, std::string(op.name) + ": the workspace has " +
                                 std::to_string(operands.workspace_size) + " bytes, runs of this plan need " +
                                 std::to_string(needed));
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    if (Status s = check_operand(plan, op.operands[i], operands.dense[i], n); !s) return s;
  return {};
}

void run_chunks(const ProductPlan& plan, const Operands& operands) noexcept {
  const Task task = {plan.matrix.format,
                     plan.matrix.row_order.empty() ? nullptr : plan.matrix.row_order.data(),
                     plan.empty_rows.data(),
                     plan.values,
                     plan.options.n,
                     columns_of(plan, operands),
                     operands,
                     plan.list_order};
  const auto chunks = static_cast<std::int64_t>(plan.chunks.size());
  if (plan.threads <= 1 || forks() > 0) {
    for (const Chunk& chunk : plan.chunks) plan.run_chunk(task, chunk);
    return;
  }
#pragma omp parallel for schedule(dynamic, 1) num_threads(plan.threads)
  for (std::int64_t i = 0; i < chunks; ++i) plan.run_chunk(task, plan.chunks[static_cast<std::size_t>(i)]);
}

}  // namespace

Status run(const ProductPlan& plan, const Operation& op, const Operands& operands, void* stream) noexcept {
  if (Status s = check_operands(plan, op, operands); !s) return s;
  if (plan.on_device) return cuda::run(*plan.on_device, operands, stream);
  if (stream != nullptr)
    return fail(Errc::usage, std::string(op.name) + ": a plan for the CPU takes no stream");
  run_chunks(plan, operands);
  return {};
}

Result<std::vector<double>> timed_run(const ProductPlan& plan, const Operation& op, const Operands& host,
                                      int warmup, int repeat) {
  if (Status s = check_operands(plan, op, host); !s) return tl::unexpected(s.error());
  if (plan.on_device) return cuda::run_from_host(*plan.on_device, host, warmup, repeat);
  std::vector<double> seconds;
  for (int i = -warmup; i < repeat; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run_chunks(plan, host);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (i >= 0) seconds.push_back(took.count());
  }
  return seconds;
}

std::size_t workspace_bytes(const ProductPlan& plan) {
  return plan.on_device ? cuda::workspace_bytes(*plan.on_device) : 0;
}

std::int64_t least_n(const ProductPlan& plan) { return plan.on_device ? cuda::least_n(*plan.on_device) : 1; }

Status check_process(const ProductPlan& plan, std::string_view call) {
  if (!plan.on_device || plan.forks == forks()) return {};
  return fail(Errc::device, std::string(call) +
                                ": the plan was made before fork, and its CUDA device stayed with the parent "
                                "process; use CUDA in the child alone, or start it afresh (exec, spawn)");
}

}  // namespace sptile::runtime
