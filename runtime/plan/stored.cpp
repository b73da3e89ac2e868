#include "runtime/plan/stored.hpp"

#include <charconv>

#include "formats/layout/bundle_layout.hpp"
#include "runtime/core/attributes.hpp"
#include "runtime/plan/plan_key.hpp"
#include "runtime/plan/stored_division.hpp"

namespace sptile::runtime {
namespace {

std::string_view type_name(DType type) { return type == DType::none ? "pattern" : name_of(type); }

/// Returns the version of a kernel's stored schedules; nullopt if its plans are not stored.
std::optional<std::uint32_t> stored_version(const KernelChoice& kernel) {
  if (kernel.instance == nullptr) return kDivisionVersion;
  if (kernel.instance->store == nullptr) return std::nullopt;
  return kernel.instance->store->version;
}

/// Returns the kernel of a stored plan if planning with these options could produce the plan.
std::optional<KernelChoice> match(const StoredPlan& plan, const Operation& op, const PlanMatrix& a,
                                  const PlanOptions& options, const cuda::DeviceInfo& device) {
  PlanOptions same = options;
  same.kernel = plan.field("kernel");
  if (!options.kernel.empty() && options.kernel != same.kernel) return std::nullopt;
  if (same.kernel.empty()) return std::nullopt;
  const auto kernel = choose_kernel(multiplicand_of(op, a.format), same, device);
  if (!kernel || !stored_version(*kernel)) return std::nullopt;
  if (plan_key(op, a, *kernel, options, device) != plan.key) return std::nullopt;
  return *kernel;
}

/// Returns the names of the kernels for the same product whose plans can be stored.
std::string storable_kernels(const Operation& op, const PlanMatrix& a, const PlanOptions& options,
                             const cuda::DeviceInfo& device) {
  const Multiplicand multiplicand = multiplicand_of(op, a.format);
  std::string names;
  for (const Kernel& kernel : kernels()) {
    if (!is_for(kernel, op, multiplicand.format, Device::cuda, {})) continue;
    const cuda::DeviceKernel* const row = find_instance(kernel, multiplicand, options, device);
    if (row != nullptr && row->store != nullptr)
      names += (names.empty() ? "" : ", ") + std::string(kernel.name);
  }
  return names;
}

tl::unexpected<Error> refuse_kernel(const Kernel& kernel, const std::string& storable) {
  const std::string remedy = storable.empty()
                                 ? "programs plan " + std::string(kernel.op->name) + " when they run it"
                                 : "kernels whose plans can be stored: " + storable;
  return fail(Errc::unsupported,
              "plan: plans of " + std::string(kernel.name) + " cannot be stored; " + remedy);
}

/// Limit of n, which check_extent enforces.
constexpr std::int64_t kMaxColumns = std::int64_t{1} << 30;

/// Returns the value of a key line that is an integer from 1 to `max`; nullopt otherwise.
std::optional<std::int64_t> number_of(const StoredPlan& plan, std::string_view line, std::int64_t max) {
  const std::string_view text = plan.field(line);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > max)
    return std::nullopt;
  return number;
}

}  // namespace

std::string plan_key(const Operation& op, const PlanMatrix& a, const KernelChoice& kernel,
                     const PlanOptions& options, const cuda::DeviceInfo& device) {
  const bool on_cpu = kernel.instance == nullptr;
  std::string key = "sptile-plan 1\n";
  const auto add = [&](std::string_view name, std::string_view value) {
    key.append(name).append(" ").append(value).append("\n");
  };
  add("op", op.name);
  add("side", a.own_transpose ? "transpose" : "matrix");
  add("format", a.format.layout->name);
  add("kernel", kernel.kernel->name);
  add("version", std::to_string(*stored_version(kernel)));
  add("n", std::to_string(options.n));
  PlanOptions given = options;
  if (given.variant.m == options.n) given.variant.m = 0;  // the same plan
  for (const Attribute& attribute : attributes()) {
    if (!attribute.in_plan_key) continue;
    const double value = attribute.plan.get(given);
    if (value != initial_value(attribute)) add(attribute.name, value_text(attribute, value));
  }
  add("values", type_name(a.format.value_dtype()));
  const DenseTypes types = types_of(options);
  add("dense", type_name(types.operands));
  add("result", type_name(types.result));
  add("precision", name_of(on_cpu ? cpu_precision(types.operands) : kernel.instance->precision));
  add("device", on_cpu ? "cpu" : "cuda");
  if (on_cpu) {
    if (!op.by_columns) add("threads", std::to_string(threads_of(options)));
    return key;
  }
  add("capability", std::to_string(device.capability));
  add("multiprocessors", std::to_string(device.sm_count));
  add("l2_bytes", std::to_string(device.l2_bytes));
  add("shared_bytes", std::to_string(device.shared_per_block));
  return key;
}

std::optional<StoredMatch> find_stored(const Operation& op, std::span<const PlanMatrix> matrices,
                                       const PlanOptions& options, const cuda::DeviceInfo& device) {
  if (!options.stored || matrices.empty()) return std::nullopt;
  const auto plans = matrices.front().stored;
  for (auto plan = plans.rbegin(); plan != plans.rend(); ++plan)
    for (std::size_t m = 0; m < matrices.size(); ++m)
      if (plan->field("format") == matrices[m].format.layout->name)
        if (const auto kernel = match(*plan, op, matrices[m], options, device))
          return StoredMatch{&*plan, m, *kernel};
  return std::nullopt;
}

Status refuse_stored(const StoredPlan& plan, const std::string& why) {
  return fail(Errc::bad_input, "plan: " + std::string(plan.name) + " of the bundle is damaged: " + why +
                                   "; replace it with 'sptile plan --force'");
}

Status check_hashes(const StoredPlan& plan) {
  const auto numbers = std::as_bytes(plan.schedule.numbers);
  const auto bytes = plan.schedule.bytes;
  if (formats::bundle_hash(numbers.data(), numbers.size()) == plan.numbers_hash &&
      formats::bundle_hash(bytes.data(), bytes.size()) == plan.bytes_hash)
    return {};
  return refuse_stored(plan, "its XXH3 hash differs from the table");
}

Result<PlanToStore> plan_to_store(const Operation& op, const PlanMatrix& a, const KernelChoice& kernel,
                                  const PlanOptions& options, const cuda::DeviceInfo& device,
                                  std::span<const cuda::KernelCost> costs) {
  if (!stored_version(kernel)) return refuse_kernel(*kernel.kernel, storable_kernels(op, a, options, device));
  std::string key = plan_key(op, a, kernel, options, device);
  if (kernel.instance == nullptr) {
    DivisionToStore division = division_to_store({op, a.format, options.n, threads_of(options)});
    return PlanToStore{std::move(key), std::move(division.numbers), std::move(division.bytes)};
  }
  cuda::Schedule schedule = kernel.instance->schedule({a.format, options.n, device, costs, options.variant});
  return PlanToStore{std::move(key), kernel.instance->store->numbers(schedule.header),
                     std::move(schedule.bytes)};
}

Status prove_stored(const StoredPlan& plan, const formats::FormatView& format) {
  const Operation* const op = find_operation(plan.field("op"));
  const auto version = number_of(plan, "version", kDivisionVersion);
  const auto n = number_of(plan, "n", kMaxColumns), threads = number_of(plan, "threads", kMaxThreads);
  const bool known = plan.field("device") == "cpu" && op != nullptr && version == kDivisionVersion;
  if (!known || !n || (!threads && !op->by_columns)) return {};  // written by a newer version, and never used
  const auto restored =
      restore_division({*op, format, *n, static_cast<int>(threads.value_or(1))}, plan.schedule);
  return restored ? Status() : refuse_stored(plan, restored.error().message);
}

}  // namespace sptile::runtime
