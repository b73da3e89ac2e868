// Planning for the CPU.
#include <algorithm>

#include "formats/layout/csr.hpp"
#include "runtime/cpu/isa.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/spmm.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/plan/stored.hpp"
#include "runtime/plan/stored_division.hpp"

namespace sptile::runtime {
namespace {

/// Restores the stored division, or divides the work.
Result<WorkPlan> division_of(const ProductPlan& plan, int threads, const StoredPlan* stored) {
  const DivisionRequest request{*plan.op, plan.matrix.format, plan.options.n, threads};
  if (stored == nullptr) return divide(request);
  if (!plan.options.trusted)
    if (Status s = check_hashes(*stored); !s) return tl::unexpected(s.error());
  Result<WorkPlan> restored = restore_division(request, stored->schedule);
  if (!restored) return tl::unexpected(refuse_stored(*stored, restored.error().message).error());
  return restored;
}

/// Chooses the row steps and segments of csr.
void plan_rows(ProductPlan& plan) {
  const formats::CsrView csr = formats::as_csr(plan.matrix.format);
  plan.steps = choose_row_steps(csr);
  if (plan.options.variant.heads > 1) return;
  plan.pieces = split_long_rows(csr);
  if (plan.pieces.empty()) return;
  plan.other_chunks = without_rows(plan.chunks, plan.pieces);
  DenseTypes sums = types_of(plan.options);
  sums.result = sum_type(sums.operands);
  plan.sum_piece = find_function(*plan.kernel, plan.values, sums);
}

}  // namespace

Status plan_on_cpu(ProductPlan& plan) {
  const auto stored = find_stored(*plan.op, {&plan.matrix, 1}, plan.options, {});
  const auto chosen = stored ? stored->kernel
                             : choose_kernel(multiplicand_of(*plan.op, plan.matrix.format), plan.options, {});
  if (!chosen) return tl::unexpected(chosen.error());
  plan.kernel = chosen->kernel;
  plan.run_chunk = find_function(*plan.kernel, plan.values, types_of(plan.options));
  plan.precision = cpu_precision(plan.options.dense);
  const int threads = threads_of(plan.options);
  Result<WorkPlan> work = division_of(plan, threads, stored ? stored->plan : nullptr);
  if (!work) return tl::unexpected(work.error());
  plan.stored = stored.has_value();
  plan.chunks = std::move(work->chunks);
  plan.empty_rows = std::move(work->empty_rows);
  plan.threads = threads;
  if (plan.op == &kSpmm && plan.kernel->format == "csr") plan_rows(plan);
  return {};
}

}  // namespace sptile::runtime
