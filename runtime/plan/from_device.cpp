#include "runtime/plan/from_device.hpp"

#include <string>
#include <utility>

#include "formats/layout/registry.hpp"
#include "runtime/choice/fitted_parameter.hpp"
#include "runtime/choice/profiles.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/plan/product_plan.hpp"

namespace sptile::runtime {
namespace {

using cuda::DeviceCsr;

/// Returns the product that the matrix is split for. Results with a number per entry become values of a
/// refreshable plan, which may have another N and precision, and both must be split alike.
SplitProduct split_product(const Operation& op, std::string_view format, DType values,
                           const KernelChoice& chosen, const PlanOptions& options) {
  if (op.result().extent == Extent::entries || options.refreshable) return usual_product(format, values);
  return {chosen.kernel, chosen.instance->precision, options.n};
}

/// Returns the threshold from the profile of the device; nullopt if there is none.
Result<std::optional<int>> find_threshold(const SplitProduct& product, const cuda::DeviceInfo& device) {
  const auto profile = find_profile(profile_device(Device::cuda, device));
  if (!profile) return tl::unexpected(profile.error());
  if (!*profile) return std::optional<int>();
  const auto fitted = fitted_parameter(**profile, product);
  if (!fitted) return tl::unexpected(fitted.error());
  return *fitted ? std::optional<int>((*fitted)->value) : std::nullopt;
}

}  // namespace

Result<std::optional<int>> parameter_for(const Operation& op, const formats::FormatLayout& layout,
                                         DType values, std::int64_t cols, const PlanOptions& options,
                                         const cuda::DeviceInfo& device) {
  const auto chosen = choose_kernel({&op, layout.name, values, cols}, options, device);
  if (!chosen) return tl::unexpected(chosen.error());
  if (!layout.is_fitted()) return std::optional<int>();
  return find_threshold(split_product(op, layout.name, values, *chosen, options), device);
}

Result<std::shared_ptr<HeldFormat>> hold_converted(const formats::FormatLayout& layout, const DeviceCsr& csr,
                                                   std::optional<int> parameter, const HoldOptions& options,
                                                   void* stream) {
  const bool has_other_order = layout.name != "csr" || csr.row_order != nullptr;
  auto converted = cuda::convert_on_device(
      layout, csr, {.with_source = options.refreshable && has_other_order, .parameter = parameter}, stream);
  if (!converted) return tl::unexpected(converted.error());
  return hold_device_format(std::move(*converted), options);
}

Result<std::shared_ptr<ProductPlan>> plan_from_device(const Operation& op, const DeviceCsr& csr,
                                                      std::string_view format, const PlanOptions& options) {
  if (options.device != Device::cuda)
    return fail(Errc::usage,
                "plan: the matrix is in the memory of a CUDA device; plan for CUDA, not the CPU");
  if (options.device_ordinal != csr.ordinal)
    return fail(Errc::usage, "plan: the matrix is on CUDA device " + std::to_string(csr.ordinal) +
                                 "; plan for that device");
  const auto device = check_options(options);
  if (!device) return tl::unexpected(device.error());
  if (Status s = check_extent(csr.rows, csr.cols, options); !s) return tl::unexpected(s.error());
  const formats::FormatLayout* layout = formats::find_layout(format);
  if (layout == nullptr)
    return fail(Errc::usage, "plan: unknown format " + std::string(format) + "; see 'sptile list formats'");
  const auto parameter = parameter_for(op, *layout, csr.value_dtype, csr.cols, options, *device);
  if (!parameter) return tl::unexpected(parameter.error());
  const auto held = hold_converted(
      *layout, csr, *parameter,
      {.device = Device::cuda, .ordinal = csr.ordinal, .trusted = true, .refreshable = options.refreshable},
      nullptr);
  if (!held) return tl::unexpected(held.error());
  return plan_product(op, *held, options);
}

}  // namespace sptile::runtime
