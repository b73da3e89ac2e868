#include "runtime/spmm.hpp"

#include <chrono>
#include <limits>
#include <string>

#include "runtime/spmm_plan.hpp"

namespace sptile::runtime {
namespace {

/// Verifies that a row-major operand of this many rows can be addressed.
Status check_operand(const char* name, const void* data, const char* stride_name, std::int64_t stride,
                     std::int64_t rows, const SpmmPlan& plan) {
  const std::string prefix = std::string("spmm: ") + name;
  if (data == nullptr && rows > 0) return fail(Errc::usage, prefix + " is null; pass a row-major matrix");
  if (stride < plan.options.n)
    return fail(Errc::usage, std::string("spmm: ") + stride_name + " = " + std::to_string(stride) +
                                 " is less than the " + std::to_string(plan.options.n) + " columns planned");
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(rows, stride, &bytes) ||
      __builtin_mul_overflow(bytes, static_cast<std::int64_t>(size_of(plan.options.dense)), &bytes))
    return fail(Errc::usage, std::string("spmm: ") + stride_name + " = " + std::to_string(stride) +
                                 " takes the matrix past 2^63 bytes");
  return {};
}

SpmmTask task_of(const SpmmPlan& plan, const SpmmOperands& operands) {
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

Status run(const SpmmPlan& plan, const SpmmOperands& operands, void* stream) noexcept {
  const formats::FormatView& a = plan.matrix.format;
  if (Status s = check_operand("B", operands.b, "ldb", operands.ldb, a.cols, plan); !s) return s;
  if (Status s = check_operand("C", operands.c, "ldc", operands.ldc, a.rows, plan); !s) return s;
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

Result<std::vector<double>> timed_run(const SpmmPlan& plan, const SpmmOperands& host, int warmup,
                                      int repeat) {
  const formats::FormatView& a = plan.matrix.format;
  if (Status s = check_operand("B", host.b, "ldb", host.ldb, a.cols, plan); !s)
    return tl::unexpected(s.error());
  if (Status s = check_operand("C", host.c, "ldc", host.ldc, a.rows, plan); !s)
    return tl::unexpected(s.error());
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

std::string_view kernel_name(const SpmmPlan& plan) { return plan.kernel->name; }

Precision precision_of(const SpmmPlan& plan) { return plan.precision; }

std::size_t workspace_bytes(const SpmmPlan& plan) {
  return plan.on_device ? cuda::workspace_bytes(*plan.on_device) : 0;
}

}  // namespace sptile::runtime
