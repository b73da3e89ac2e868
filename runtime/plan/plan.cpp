#include "runtime/plan/plan.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "formats/core/fork.hpp"
#include "runtime/core/attributes.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/threads/count.hpp"

namespace sptile::runtime {
namespace {

using formats::FormatView;

Status check_numbers(const PlanOptions& options) {
  if (options.n < 1)
    return fail(Errc::usage,
                "plan: n = " + std::to_string(options.n) + "; the dense operands need at least one column");
  if (options.threads < 0 || options.threads > kMaxThreads)
    return fail(Errc::usage, "plan: threads = " + std::to_string(options.threads) + "; expected 0 (all) to " +
                                 std::to_string(kMaxThreads));
  if (Status s = check_attributes(options); !s) return fail(s.error().code, "plan: " + s.error().message);
  return {};
}

}  // namespace

Status check_extent(std::int64_t rows, std::int64_t cols, const PlanOptions& options) {
  std::int64_t bytes = 0;
  const RunSizes sizes = sizes_of(options);
  const std::int64_t longest = std::max(rows, cols), widest = std::max(sizes.n, sizes.m);
  if (!__builtin_mul_overflow(std::max(longest, widest), widest, &bytes) &&
      !__builtin_mul_overflow(bytes, sizes.heads, &bytes) && !__builtin_mul_overflow(bytes, 8, &bytes))
    return {};
  return fail(Errc::unsupported,
              "plan: " + std::to_string(longest) + " rows of " + (widest > sizes.n ? "m" : "n") + " = " +
                  std::to_string(widest) + " columns" +
                  (sizes.heads > 1 ? " and " + std::to_string(sizes.heads) + " heads" : "") +
                  " take more than 2^63 bytes");
}

Result<cuda::DeviceInfo> check_options(const PlanOptions& options) {
  if (Status s = check_numbers(options); !s) return tl::unexpected(s.error());
  if (Status s = check_types(options); !s) return fail(s.error().code, "plan: " + s.error().message);
  if (options.threads == 0)
    if (Status s = check_threads_variable(); !s) return fail(s.error().code, "plan: " + s.error().message);
  if (options.device == Device::cpu) return cuda::DeviceInfo{};
  Result<cuda::DeviceInfo> found = cuda::find_device(options.device_ordinal);
  if (!found) return fail(found.error().code, "plan: " + found.error().message);
  return found;
}

bool lists_in_csr_order(const Operation& op, const PlanOptions& options) {
  return options.order == EntryOrder::csr && op.result().extent == Extent::entries;
}

Result<std::shared_ptr<ProductPlan>> plan_product(const Operation& op,
                                                  const std::shared_ptr<HeldFormat>& held,
                                                  const PlanOptions& options) {
  const Result<cuda::DeviceInfo> device = check_options(options);
  if (!device) return tl::unexpected(device.error());
  if (op.check != nullptr)
    if (Status s = op.check(options); !s)
      return fail(s.error().code, "plan: " + std::string(op.name) + ": " + s.error().message);
  const FormatView& a = held->matrix.format;
  if (Status s = check_extent(a.rows, a.cols, options); !s) return tl::unexpected(s.error());
  auto plan = std::make_shared<ProductPlan>();
  plan->op = &op;
  plan->held = held;
  plan->matrix = held->matrix;
  plan->options = options;
  plan->forks = forks();
  plan->values = held->dtype;
  if (lists_in_csr_order(op, options)) {
    if (Status s = prove_order(*held); !s) return tl::unexpected(s.error());
    if (held->matrix.value_source.present() && options.device == Device::cpu)
      plan->list_order = held->matrix.value_source.as<std::int64_t>().data();
  }
  if (Status s = options.device == Device::cpu ? plan_on_cpu(*plan) : plan_on_device(*plan, *device); !s)
    return tl::unexpected(s.error());
  plan->options.kernel = plan->kernel->name;  // points to static storage, unlike the caller's string
  return plan;
}

namespace {

/// Frees host copies: all data of the plan is on the device.
void forget_host(ProductPlan& plan) {
  for (PlanMatrix* matrix : {&plan.matrix, &plan.held->matrix}) {
    matrix->row_order = {};
    matrix->value_source.data = nullptr;
    matrix->owner.reset();
    for (ArrayView& array : matrix->format.arrays) array.data = nullptr;
  }
}

}  // namespace

Result<std::shared_ptr<ProductPlan>> plan_product(const Operation& op, const PlanMatrix& a,
                                                  const PlanOptions& options) {
  const Result<cuda::DeviceInfo> device = check_options(options);  // check before slow steps
  if (!device) return tl::unexpected(device.error());
  const auto held = hold_format(a, {.device = options.device,
                                    .ordinal = options.device_ordinal,
                                    .trusted = options.trusted,
                                    .refreshable = options.refreshable});
  if (!held) return tl::unexpected(held.error());
  auto plan = plan_product(op, *held, options);
  if (plan && options.device == Device::cuda) {
    if (lists_in_csr_order(op, options))
      if (Status s = bring_order(**held); !s) return tl::unexpected(s.error());
    forget_host(**plan);
  }
  return plan;
}

std::string_view kernel_name(const ProductPlan& plan) { return plan.kernel->name; }

bool is_stored(const ProductPlan& plan) { return plan.stored; }

Precision precision_of(const ProductPlan& plan) { return plan.precision; }

}  // namespace sptile::runtime
