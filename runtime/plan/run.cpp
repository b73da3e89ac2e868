// Runs of plans.
#include <chrono>
#include <cmath>
#include <string>

#include "formats/core/fork.hpp"
#include "runtime/core/run_values.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/plan/run_threads.hpp"
#include "runtime/threads/pool.hpp"

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

/// One operand of a run, with its name in messages.
struct CheckedOperand {
  const ProductPlan& plan;
  const OperandSpec& spec;
  const Operand& operand;
  OperandShape shape;
  std::int64_t heads;

  [[nodiscard]] bool is_list() const { return spec.extent == Extent::entries; }
  [[nodiscard]] Status refuse(const std::string& why) const {
    return fail(Errc::usage, std::string(plan.op->name) + ": " + why);
  }
  [[nodiscard]] std::string name() const { return std::string(spec.name); }
};

Status check_there(const CheckedOperand& o) {
  if (o.operand.data != nullptr || o.spec.optional || o.shape.rows == 0) return {};
  return o.refuse(o.name() + (o.is_list() ? " is null; pass an array with one number per entry"
                                          : " is null; pass a row-major matrix"));
}

/// Checks that the leading dimension of an operand is at least its width.
Status check_rows(const CheckedOperand& o) {
  if (o.is_list() || o.operand.ld >= o.shape.width) return {};
  return o.refuse("the leading dimension of " + o.name() + ", " + std::to_string(o.operand.ld) +
                  ", is less than its " + std::to_string(o.shape.width) + " columns");
}

/// Checks that heads do not overlap: they are either consecutive matrices or interleaved in rows.
Status check_heads(const CheckedOperand& o) {
  if (o.heads == 1 || o.operand.batch == 0) return {};
  const std::int64_t batch = o.operand.batch, ld = o.is_list() ? 1 : o.operand.ld;
  if (batch < 0)
    return o.refuse("the heads of " + o.name() + " are " + std::to_string(batch) + " elements apart");
  const bool apart = (batch - o.shape.width) / ld >= o.shape.rows - 1;
  const bool beside = (ld - o.shape.width) / batch >= o.heads - 1;
  if (!o.spec.result || o.shape.rows == 0 || (batch >= o.shape.width && (apart || beside))) return {};
  return o.refuse("the heads of " + o.name() + ", " + std::to_string(batch) +
                  " elements apart, overlap; pass a head stride of at least the size of a head, or a leading "
                  "dimension that includes all heads");
}

/// Checks that the last element of an operand can be addressed.
Status check_extent(const CheckedOperand& o) {
  const auto element = static_cast<std::int64_t>(size_of(type_of(o.spec, types_of(o.plan.options))));
  const std::int64_t ld = o.is_list() ? 1 : o.operand.ld;
  std::int64_t rows = 0, heads = 0, bytes = 0;
  const bool shared = o.spec.shared && o.operand.batch == 0;
  if (!__builtin_mul_overflow(o.shape.rows, ld, &rows) &&
      !__builtin_mul_overflow(o.operand.batch != 0 ? o.operand.batch : rows, shared ? 1 : o.heads, &heads) &&
      !__builtin_add_overflow(rows, heads, &bytes) && !__builtin_mul_overflow(bytes, element, &bytes))
    return {};
  return o.refuse("the leading dimension of " + o.name() + ", " + std::to_string(ld) +
                  ", makes the matrix larger than 2^63 bytes");
}

Status check_operand(const CheckedOperand& operand) {
  if (operand.operand.data == nullptr && operand.spec.optional) return {};
  for (const auto check : {check_there, check_rows, check_heads, check_extent})
    if (Status s = check(operand); !s) return s;
  return {};
}

/// Checks alpha, beta and scaled.
Status check_scale(const ProductPlan& plan, const Operands& operands) {
  const Operation& op = *plan.op;
  if (op.adds) return {};
  const auto refuse = [&op](const char* why) { return fail(Errc::usage, std::string(op.name) + ": " + why); };
  if (!std::isfinite(operands.alpha) || !std::isfinite(operands.slope))
    return refuse("alpha and slope must be finite");
  if (operands.beta != 0) return refuse("beta must be 0 for this operation");
  return {};
}

/// Checks that values of a run can replace those of the matrix.
Status check_values(const ProductPlan& plan, const Operands& operands) {
  if (operands.values == nullptr) return {};
  const std::string prefix = std::string(plan.op->name) + ": ";
  if (plan.values == DType::none)
    return fail(Errc::usage, prefix + "values were passed, but the matrix is a pattern");
  const std::int64_t heads = plan.options.variant.heads;
  std::int64_t bytes = 0;
  if (operands.values_batch >= 0 && !__builtin_mul_overflow(operands.values_batch, heads, &bytes) &&
      !__builtin_mul_overflow(bytes, static_cast<std::int64_t>(size_of(plan.values)), &bytes))
    return {};
  return fail(Errc::usage, prefix + "the values of " + std::to_string(heads) + " heads are " +
                               std::to_string(operands.values_batch) + " elements apart");
}

Status check_columns(const ProductPlan& plan, std::int64_t n) {
  if (n >= 1 && n <= plan.options.n) return {};
  const std::string planned = std::to_string(plan.options.n);
  return fail(Errc::usage, std::string(plan.op->name) + ": n = " + std::to_string(n) +
                               ", but the plan supports 1 to " + planned +
                               (n > plan.options.n ? "; plan for n = " + std::to_string(n) : ""));
}

Status check_operands(const ProductPlan& plan, const Operation& op, const Operands& operands) {
  if (Status s = check_operation(plan, op); !s) return s;
  const std::int64_t n = columns_of(plan, operands);
  if (Status s = check_columns(plan, n); !s) return s;
  const std::size_t needed = workspace_bytes(plan);
  if (operands.workspace != nullptr && operands.workspace_size < needed)
    return fail(Errc::usage, std::string(op.name) + ": the workspace has " +
                                 std::to_string(operands.workspace_size) + " bytes, but this plan needs " +
                                 std::to_string(needed));
  if (Status s = check_scale(plan, operands); !s) return s;
  if (Status s = check_values(plan, operands); !s) return s;
  const OperandSizes sizes = sizes_of(plan, n);
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const OperandSpec& spec = op.operands[i];
    if (Status s = check_operand({plan, spec, operands.dense[i], shape_of(spec, sizes), sizes.run.heads}); !s)
      return s;
  }
  if (op.check_run != nullptr)
    if (Status s = op.check_run(plan.options, operands); !s)
      return fail(s.error().code, std::string(op.name) + ": " + s.error().message);
  return {};
}

/// Returns the task of one head.
Task task_of(const ProductPlan& plan, const Operands& operands) noexcept {
  return {with_values(plan.matrix.format, operands.values),
          plan.matrix.row_order.empty() ? nullptr : plan.matrix.row_order.data(),
          plan.empty_rows.data(),
          plan.values,
          plan.options.n,
          columns_of(plan, operands),
          sizes_of(plan.options, operands.n),
          operands,
          plan.list_order,
          plan.options.variant,
          plan.steps};
}

/// Runs a product of few columns whose long rows are split into segments.
[[gnu::noinline]] void run_with_pieces(const ProductPlan& plan, const Task& task,
                                       const LoopThreads& threads) {
  PieceSums sums;
  const DenseTypes types = types_of(plan.options);
  const std::size_t piece_bytes = static_cast<std::size_t>(task.n) * size_of(sum_type(types.operands));
  const std::int64_t pieces = std::ssize(plan.pieces);
  thread_pool().run(threads, pieces + std::ssize(plan.other_chunks), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i < pieces ? i : i - pieces);
    if (i < pieces)
      sum_piece(task, plan.sum_piece, plan.pieces[at],
                reinterpret_cast<std::byte*>(sums.numbers) + at * piece_bytes);
    else
      plan.run_chunk(task, plan.other_chunks[at]);
  });
  write_long_rows(task, types.result, plan.pieces, sums);
}

/// Runs the chunks of all heads in one loop, so that small heads run concurrently.
void run_chunks(const ProductPlan& plan, const Operands& operands) noexcept {
  const OperandSizes sizes = sizes_of(plan, columns_of(plan, operands));
  const DenseTypes types = types_of(plan.options);
  const LoopThreads threads =
      plan.threads > 1 ? threads_for(estimated_time(*plan.op, sizes, types), plan.threads) : 1;
  const std::int64_t chunks = std::ssize(plan.chunks), heads = sizes.run.heads;
  const auto task_of_head = [&](std::int64_t head) {
    return task_of(plan, operands_of_head(*plan.op, operands, head, sizes, types, plan.values));
  };
  const Task first = task_of_head(0);
  if (!plan.pieces.empty() && first.n <= kMaxSplitColumns) return run_with_pieces(plan, first, threads);
  thread_pool().run(threads, heads * chunks, [&](std::int64_t i) {
    const Chunk& chunk = plan.chunks[static_cast<std::size_t>(i % chunks)];
    if (i < chunks)
      plan.run_chunk(first, chunk);
    else
      plan.run_chunk(task_of_head(i / chunks), chunk);
  });
}

}  // namespace

OperandSizes sizes_of(const ProductPlan& plan, std::int64_t n) {
  const formats::FormatView& a = plan.matrix.format;
  return {a.rows, a.cols, a.nnz, sizes_of(plan.options, n), plan.options.variant.transposed_weights};
}

Status run(const ProductPlan& plan, const Operation& op, const Operands& operands, void* stream) {
  if (Status s = check_operands(plan, op, operands); !s) return s;
  if (plan.on_device) return cuda::run(*plan.on_device, operands, stream);
  if (stream != nullptr)
    return fail(Errc::usage, std::string(op.name) + ": a CPU plan does not accept a stream");
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
  return fail(Errc::device,
              std::string(call) +
                  ": the plan was created before fork, and its CUDA device belongs to the parent process; "
                  "use CUDA only in the child, or start the child with exec or spawn");
}

}  // namespace sptile::runtime
