#include "runtime/plan/plan.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/cpu/isa.hpp"
#include "runtime/cpu/units.hpp"
#include "runtime/fork.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/plan/product_plan.hpp"

namespace sptile::runtime {
namespace {

using formats::FormatView;

constexpr int kMaxThreads = 4096;

Status check_numbers(const PlanOptions& options) {
  if (options.n < 1)
    return fail(Errc::usage,
                "plan: n = " + std::to_string(options.n) + "; the dense operands need at least one column");
  if (options.threads < 0 || options.threads > kMaxThreads)
    return fail(Errc::usage, "plan: threads = " + std::to_string(options.threads) + "; use 0 (all) to " +
                                 std::to_string(kMaxThreads));
  return {};
}

/// Verifies that an array holds each of its positions once.
template <class T>
Status check_permutation(std::span<const T> ids, const char* array, const char* what) {
  std::vector<bool> seen(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<std::size_t>(ids[i]);  // negative ones are larger than all
    if (id >= ids.size() || seen[id])
      return fail(Errc::bad_input, std::string(array) + "[" + std::to_string(i) +
                                       "] = " + std::to_string(ids[i]) + "; expected each " + what +
                                       " of 0 to " + std::to_string(ids.size() - 1) + " once");
    seen[id] = true;
  }
  return {};
}

Status check_row_order(const PlanMatrix& a, bool trusted) {
  if (a.row_order.empty()) return {};
  if (std::ssize(a.row_order) != a.format.rows)
    return fail(Errc::bad_input, "row_order has " + std::to_string(a.row_order.size()) +
                                     " rows, the matrix " + std::to_string(a.format.rows));
  return trusted ? Status{} : check_permutation(a.row_order, "row_order", "row");
}

Status check_matrix(const PlanMatrix& a, bool trusted) {
  if (a.format.layout == nullptr) return fail(Errc::usage, "plan: the matrix has no format");
  if (Status s = trusted ? a.format.layout->check_lengths(a.format) : formats::check(a.format); !s) return s;
  return check_row_order(a, trusted);
}

/// Says which kernels would have been there.
std::string kernel_choices(const Operation& op, const FormatView& a) {
  std::string names;
  for (const Kernel& kernel : kernels())
    if (kernel.op == &op && kernel.device == Device::cpu && kernel.format == a.layout->name &&
        available(kernel))
      names += (names.empty() ? "" : ", ") + std::string(kernel.name);
  return names.empty() ? "none" : names;
}

/// Lists the dense types that go with a type of values, or says that there are none.
std::string dense_choices(const Kernel& kernel, DType values) {
  std::string names;
  for (const DTypeInfo& type : kDTypes)
    if (find_function(kernel, values, type.dtype) != nullptr)
      names += (names.empty() ? "" : " or ") + std::string(type.name);
  return names;
}

/// Visits the value arrays of a format, in order.
template <class F>
void for_each_values(FormatView& view, F f) {
  for (std::size_t i = 0; i < view.layout->arrays.size(); ++i)
    if (view.layout->arrays[i].holds_values && view.arrays[i].present()) f(view.arrays[i]);
}

bool is_csr(const FormatView& view) { return view.layout->name == "csr"; }

Status check_value_source(const PlanMatrix& a, bool trusted) {
  if (is_csr(a.format) && !a.value_source.present()) return {};
  if (a.value_source.dtype != DType::i64 || a.value_source.size != a.format.nnz)
    return fail(Errc::usage,
                "plan: refreshable needs value_source, one i64 position per entry; convert with "
                "--refreshable");
  return trusted ? Status{} : check_permutation(a.value_source.as<std::int64_t>(), "value_source", "entry");
}

/// Copies the values and lets the plan's format point to the copy.
void own_values(ProductPlan& plan) {
  std::size_t bytes = 0;
  for_each_values(plan.matrix.format,
                  [&](const ArrayView& v) { bytes += static_cast<std::size_t>(v.bytes()); });
  plan.own_values.resize(bytes);
  std::byte* next = plan.own_values.data();
  for_each_values(plan.matrix.format, [&](ArrayView& v) {
    if (v.size > 0) std::memcpy(next, v.data, static_cast<std::size_t>(v.bytes()));
    v.data = next;
    next += v.bytes();
  });
}

void set_work(ProductPlan& plan) {
  int threads = plan.options.threads > 0 ? plan.options.threads : most_threads();
  WorkPlan work = divide_work(plan.matrix.format, plan.options.n, threads);
  plan.chunks = std::move(work.chunks);
  plan.empty_rows = std::move(work.empty_rows);
  plan.threads = static_cast<int>(std::min<std::int64_t>(threads, std::ssize(plan.chunks)));
}

Status plan_on_cpu(ProductPlan& plan) {
  const PlanOptions& options = plan.options;
  const FormatView& format = plan.matrix.format;
  plan.kernel = find_kernel(*plan.op, format.layout->name, options.device, options.kernel);
  if (plan.kernel == nullptr)
    return fail(options.kernel.empty() ? Errc::unsupported : Errc::usage,
                "plan: no kernel " + std::string(options.kernel) + " for " + std::string(plan.op->name) +
                    " with format " + std::string(format.layout->name) +
                    " on the CPU of this machine; there is: " + kernel_choices(*plan.op, format));
  plan.run_chunk = find_function(*plan.kernel, plan.values, options.dense);
  if (plan.run_chunk == nullptr) {
    const std::string type = plan.values == DType::none ? "pattern" : std::string(name_of(plan.values));
    return fail(Errc::unsupported, "plan: a matrix of " + type + " values does not multiply dense " +
                                       std::string(name_of(options.dense)) + "; use " +
                                       dense_choices(*plan.kernel, plan.values));
  }
  plan.precision = cpu_precision(options.dense);
  if (options.refreshable && plan.values != DType::none) own_values(plan);
  set_work(plan);
  return {};
}

}  // namespace

Status check_extent(std::int64_t rows, std::int64_t cols, const PlanOptions& options) {
  std::int64_t bytes = 0;
  const std::int64_t longest = std::max(rows, cols);
  if (__builtin_mul_overflow(longest, options.n, &bytes) || __builtin_mul_overflow(bytes, 8, &bytes))
    return fail(Errc::unsupported, "plan: " + std::to_string(longest) + " rows of n = " +
                                       std::to_string(options.n) + " columns take more than 2^63 bytes");
  return {};
}

Result<cuda::DeviceInfo> check_options(const PlanOptions& options) {
  if (Status s = check_numbers(options); !s) return tl::unexpected(s.error());
  if (options.device == Device::cpu) return cuda::DeviceInfo{};
  Result<cuda::DeviceInfo> found = cuda::find_device(options.device_ordinal);
  if (!found) return fail(found.error().code, "plan: " + found.error().message);
  return found;
}

namespace {

/// Plans for a checked matrix.
Result<std::shared_ptr<ProductPlan>> plan_checked(const Operation& op, const PlanMatrix& a,
                                                  const DeviceMatrix& on_device, const PlanOptions& options,
                                                  const cuda::DeviceInfo& device) {
  if (Status s = check_extent(a.format.rows, a.format.cols, options); !s) return tl::unexpected(s.error());
  auto plan = std::make_shared<ProductPlan>();
  plan->op = &op;
  plan->matrix = a;
  plan->options = options;
  plan->forks = forks();
  plan->values = a.format.value_dtype();
  if (options.refreshable && plan->values != DType::none && on_device.format == nullptr)
    if (Status s = check_value_source(a, options.trusted); !s) return tl::unexpected(s.error());
  if (Status s =
          options.device == Device::cpu ? plan_on_cpu(*plan) : plan_on_device(*plan, device, on_device);
      !s)
    return tl::unexpected(s.error());
  plan->options.kernel = plan->kernel->name;  // the caller's string may go
  return plan;
}

}  // namespace

Result<std::shared_ptr<ProductPlan>> plan_product(const Operation& op, const PlanMatrix& a,
                                                  const PlanOptions& options) {
  const Result<cuda::DeviceInfo> device = check_options(options);  // before anything that takes long
  if (!device) return tl::unexpected(device.error());
  if (Status s = check_matrix(a, options.trusted); !s) return tl::unexpected(s.error());
  return plan_checked(op, a, {}, options, *device);
}

Result<std::shared_ptr<ProductPlan>> plan_product(const Operation& op, const PlanMatrix& a,
                                                  const DeviceMatrix& on_device, const PlanOptions& options) {
  const Result<cuda::DeviceInfo> device = check_options(options);
  if (!device) return tl::unexpected(device.error());
  return plan_checked(op, a, on_device, options, *device);
}

std::string_view kernel_name(const ProductPlan& plan) { return plan.kernel->name; }

bool is_stored(const ProductPlan& plan) { return plan.stored; }

Precision precision_of(const ProductPlan& plan) { return plan.precision; }

}  // namespace sptile::runtime
