#include "runtime/plan/stored.hpp"

#include "formats/layout/bundle_layout.hpp"
#include "runtime/attributes.hpp"
#include "runtime/plan/plan_key.hpp"

namespace sptile::runtime {
namespace {

std::string_view type_name(DType type) { return type == DType::none ? "pattern" : name_of(type); }

std::string text_of(std::int64_t number) { return std::to_string(number); }
std::string text_of(bool flag) { return flag ? "1" : "0"; }
std::string text_of(Activation activation) {
  return std::string(kActivationNames[static_cast<int>(activation)]);
}
std::string text_of(Score score) { return std::string(kScoreNames[static_cast<int>(score)]); }

/// m = n and m = 0 are the same plan.
Variant without_synonyms(Variant variant, std::int64_t n) {
  if (variant.m == n) variant.m = 0;
  return variant;
}

/// The kernel of a stored plan, if planning with these options could make that plan.
std::optional<KernelChoice> match(const StoredPlan& plan, const Operation& op, const PlanMatrix& a,
                                  const PlanOptions& options, const cuda::DeviceInfo& device) {
  PlanOptions same = options;
  same.kernel = plan.field("kernel");
  if (!options.kernel.empty() && options.kernel != same.kernel) return std::nullopt;
  if (same.kernel.empty()) return std::nullopt;
  const auto kernel = choose_kernel(multiplicand_of(op, a.format), same, device);
  if (!kernel || kernel->instance->store == nullptr) return std::nullopt;
  if (plan_key(op, a, *kernel, options.n, options.variant, device) != plan.key) return std::nullopt;
  return *kernel;
}

}  // namespace

std::string plan_key(const Operation& op, const PlanMatrix& a, const KernelChoice& kernel, std::int64_t n,
                     const Variant& variant, const cuda::DeviceInfo& device) {
  std::string key = "sptile-plan 1\n";
  const auto add = [&](std::string_view name, std::string_view value) {
    key.append(name).append(" ").append(value).append("\n");
  };
  add("op", op.name);
  add("side", a.own_transpose ? "transpose" : "matrix");
  add("format", a.format.layout->name);
  add("kernel", kernel.kernel->name);
  add("version", std::to_string(kernel.instance->store->version));
  add("n", std::to_string(n));
  const Variant given = without_synonyms(variant, n), standard;
  for_each_attribute([&](std::string_view name, auto member) {
    if (given.*member != standard.*member) add(name, text_of(given.*member));
  });
  add("values", type_name(a.format.value_dtype()));
  add("dense", type_name(kernel.instance->dense));
  add("result", type_name(types_of(*kernel.instance).result));
  add("precision", name_of(kernel.instance->precision));
  add("device", "cuda");
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
                                  std::int64_t n, const Variant& variant, const cuda::DeviceInfo& device,
                                  std::span<const cuda::KernelCost> costs) {
  const cuda::ScheduleStore* const store = kernel.instance->store;
  if (store == nullptr)
    return fail(Errc::unsupported,
                "plan: plans of the kernel " + std::string(kernel.kernel->name) + " are not stored");
  cuda::Schedule schedule = kernel.instance->schedule({a.format, n, device, costs, variant});
  return PlanToStore{plan_key(op, a, kernel, n, variant, device), store->numbers(schedule.header),
                     std::move(schedule.bytes)};
}

}  // namespace sptile::runtime
