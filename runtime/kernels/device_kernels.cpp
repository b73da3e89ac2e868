// Selection of CUDA kernels and their instances.
#include <string>

#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/operation.hpp"

namespace sptile::runtime {
namespace {

using cuda::DeviceInfo;
using cuda::DeviceKernel;

/// Precisions of the products of f32 operands, lowest first.
constexpr Precision kByExactness[] = {Precision::bf16, Precision::fp16, Precision::tf32, Precision::fp32,
                                      Precision::fp64};

int exactness(Precision precision) {
  int rank = 0;
  while (kByExactness[rank] != precision) ++rank;
  return rank;
}

/// Returns whether products of precision `has` satisfy the request: equal or higher precision. The 16-bit
/// types do not replace each other, because their ranges differ.
bool satisfies(Precision has, Precision requested) {
  return has == requested ||
         (has != Precision::fp16 && has != Precision::bf16 && exactness(has) > exactness(requested));
}

bool fits(const DeviceKernel& row, DType values, const PlanOptions& options, const DeviceInfo& device) {
  return (row.any_values || row.values == values) && types_of(row) == types_of(options) &&
         runs_on(row, device.capability) && (row.ieee || options.nonfinite == NonFinite::fast) &&
         (!options.precision || row.dense != DType::f32 || satisfies(row.precision, *options.precision));
}

std::string describe(const DenseTypes& types) {
  const std::string operands(name_of(types.operands));
  return types.result == types.operands ? operands : operands + " to " + std::string(name_of(types.result));
}

std::string describe(const DeviceKernel& row) {
  const std::string values = row.any_values              ? "any"
                             : row.values == DType::none ? "pattern"
                                                         : std::string(name_of(row.values));
  return std::string(row.kernel) + " (" + values + " x " + describe(types_of(row)) + ", " +
         std::string(name_of(row.precision)) + ")";
}

/// Returns an error with the request and the available alternatives.
tl::unexpected<Error> no_kernel(const Multiplicand& a, const PlanOptions& options, const DeviceInfo& device) {
  std::string choices;
  for (const Kernel& kernel : kernels())
    if (kernel.op == a.op && kernel.format == a.format)
      for (const DeviceKernel& row : instances_of(kernel))
        choices += (choices.empty() ? "" : ", ") + describe(row);
  const std::string values = a.values == DType::none ? "pattern" : std::string(name_of(a.values));
  return fail(options.kernel.empty() ? Errc::unsupported : Errc::usage,
              "plan: no kernel " + (options.kernel.empty() ? "" : std::string(options.kernel) + " ") +
                  "for " + std::string(a.op->name) + " of " + std::string(a.format) + ", " + values + " x " +
                  describe(types_of(options)) +
                  (options.precision ? ", " + std::string(name_of(*options.precision)) : "") +
                  (options.nonfinite == NonFinite::strict ? ", nonfinite strict" : "") + " on " +
                  device.name + "; available: " + (choices.empty() ? "none" : choices));
}

}  // namespace

Multiplicand multiplicand_of(const Operation& op, const formats::FormatView& a) {
  return {&op, a.layout->name, a.value_dtype(), a.cols};
}

PlanOptions options_of_first(const PlanOptions& options) {
  PlanOptions first = options;
  first.kernel = {};
  first.result = DType::none;
  first.variant = {};
  return first;
}

namespace {

/// Checks that a matching instance supports these sizes and, for a kernel with a first step, these types.
Status check_instance(const Kernel& kernel, const DeviceKernel& row, const Multiplicand& a,
                      const PlanOptions& options, const DeviceInfo& device) {
  if (row.check != nullptr)
    if (Status s = row.check({a.cols, options.n, options.variant, device}); !s) return s;
  if (kernel.first == nullptr) return {};
  const auto first =
      choose_kernel({kernel.first->op, kernel.format, a.values, a.cols}, options_of_first(options), device);
  return first ? Status() : tl::unexpected(first.error());
}

}  // namespace

const DeviceKernel* find_instance(const Kernel& kernel, const Multiplicand& a, const PlanOptions& options,
                                  const DeviceInfo& device) {
  const DeviceKernel* best = nullptr;
  for (const DeviceKernel& row : instances_of(kernel)) {
    if (!fits(row, a.values, options, device) || !check_instance(kernel, row, a, options, device)) continue;
    const bool better = best != nullptr && options.precision.has_value() &&
                        exactness(row.precision) < exactness(best->precision);
    if (best == nullptr || better) best = &row;
  }
  return best;
}

std::string no_instance(const Kernel& kernel, const Multiplicand& a, const PlanOptions& options,
                        const DeviceInfo& device) {
  for (const DeviceKernel& row : instances_of(kernel))
    if (fits(row, a.values, options, device))
      if (const Status s = check_instance(kernel, row, a, options, device); !s) return s.error().message;
  return "no kernel for these types and this precision";
}

Result<KernelChoice> choose_device_kernel(const Multiplicand& a, const PlanOptions& options,
                                          const DeviceInfo& device) {
  KernelChoice best;
  for (const Kernel& kernel : kernels())  // the last match is the best
    if (is_for(kernel, *a.op, a.format, Device::cuda, options.kernel))
      if (const DeviceKernel* const found = find_instance(kernel, a, options, device))
        best = {&kernel, found};
  if (best.kernel != nullptr) return best;
  for (const Kernel& kernel : kernels())
    if (is_for(kernel, *a.op, a.format, Device::cuda, options.kernel))
      for (const DeviceKernel& row : instances_of(kernel))
        if (fits(row, a.values, options, device))
          return fail(Errc::unsupported,
                      "plan: " + std::string(kernel.name) + ": " + no_instance(kernel, a, options, device));
  return no_kernel(a, options, device);
}

}  // namespace sptile::runtime
