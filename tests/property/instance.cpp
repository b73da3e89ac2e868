#include "tests/property/instance.hpp"

#include "runtime/cuda/backend.hpp"
#include "runtime/operation/sddmm.hpp"
#include "runtime/plan/plan.hpp"

namespace sptile::test {
namespace {

using runtime::DenseTypes;
using runtime::Kernel;

constexpr DType kValues[] = {DType::f32, DType::none, DType::f16, DType::bf16, DType::f64};
const DenseTypes kTypes[] = {
    DType::f32, DType::f64, DType::f16, DType::bf16, {DType::f16, DType::f32}, {DType::bf16, DType::f32}};

/// Whether the kernel runs the same code for all types of values.
bool supports_any(const Kernel& kernel) { return !kernel.op->uses_values && kernel.op != &runtime::kSddmm; }

std::vector<Instance> on_cpu(const Kernel& kernel) {
  std::vector<Instance> all;
  for (const DenseTypes& types : kTypes)
    for (const DType values : kValues)
      if (has_instance(kernel, values, types))
        all.push_back({.kernel = &kernel,
                       .values = values,
                       .types = types,
                       .precision = runtime::cpu_precision(types.operands),
                       .whole = values == DType::f32 || !supports_any(kernel)});
  return all;
}

std::vector<Instance> on_device(const Kernel& kernel, int capability) {
  std::vector<Instance> all;
  for (const runtime::cuda::DeviceKernel& row : runtime::instances_of(kernel)) {
    if (!runs_on(row, capability)) continue;
    for (const DType values : kValues)
      if (row.any_values || values == row.values)
        all.push_back({.kernel = &kernel,
                       .values = values,
                       .types = types_of(row),
                       .precision = row.precision,
                       .row = &row,
                       .whole = !row.any_values || values == DType::f32});
  }
  return all;
}

}  // namespace

bool Instance::reads_values() const {
  return values != DType::none && (op().uses_values || &op() == &runtime::kSddmm);
}

std::string describe(const Instance& instance) {
  const auto [operands, result] = instance.types;
  return (instance.values == DType::none ? "pattern" : std::string(name_of(instance.values))) + " x " +
         std::string(name_of(operands)) + (result == operands ? "" : " to " + std::string(name_of(result))) +
         " " + std::string(name_of(instance.precision));
}

std::vector<Instance> instances_of(const Kernel& kernel, int capability) {
  return kernel.device == runtime::Device::cpu ? on_cpu(kernel) : on_device(kernel, capability);
}

bool supports(const Instance& instance, std::int64_t cols, const runtime::PlanOptions& options) {
  const runtime::Operation& op = instance.op();
  if (op.check != nullptr && !op.check(options)) return false;
  if (instance.on_cpu()) return true;
  const runtime::Kernel& kernel = *instance.kernel;
  return find_instance(kernel, {&op, kernel.format, instance.values, cols}, options,
                       *runtime::cuda::find_device(options.device_ordinal)) != nullptr;
}

}  // namespace sptile::test
