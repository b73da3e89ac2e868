#include "runtime/plan/from_device.hpp"

#include <array>
#include <string>
#include <vector>

#include "formats/layout/registry.hpp"
#include "runtime/choice/fitted_threshold.hpp"
#include "runtime/choice/profiles.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/plan/product_plan.hpp"

namespace sptile::runtime {
namespace {

using cuda::DeviceCsr;
using cuda::DeviceFormat;

/// What schedules read of a matrix, in host memory.
using HostIndex = std::array<std::vector<std::byte>, formats::kMaxArrays>;

Result<PlanMatrix> fetch_index(const DeviceFormat& format, const DeviceCsr& csr, HostIndex& index) {
  PlanMatrix matrix{format.view, {}, {}, nullptr};
  for (std::size_t i = 0; i < format.view.layout->arrays.size(); ++i) {
    const formats::ArraySpec& spec = format.view.layout->arrays[i];
    ArrayView& array = matrix.format.arrays[i];
    if (!spec.holds_values && !spec.holds_columns) {
      index[i].resize(static_cast<std::size_t>(array.bytes()));
      if (Status s = cuda::download(csr.ordinal, array, index[i].data()); !s)
        return tl::unexpected(s.error());
    }
    array.data = index[i].data();
  }
  return matrix;
}

/// What the matrix is split for. Results with a number for each entry go as values into a refreshable plan that may have another N
/// and other products: both must split alike.
SplitProduct split_product(const Operation& op, std::string_view format, DType values,
                           const KernelChoice& chosen, const PlanOptions& options) {
  if (op.result().extent == Extent::entries || options.refreshable) return usual_product(format, values);
  return {chosen.kernel, chosen.instance->precision, options.n};
}

/// The threshold that the profile of the device has; none where it has none.
Result<std::optional<int>> find_threshold(const SplitProduct& product, const cuda::DeviceInfo& device) {
  const auto profile = find_profile(profile_device(Device::cuda, device));
  if (!profile) return tl::unexpected(profile.error());
  if (!*profile) return std::optional<int>();
  const auto fitted = fitted_threshold(**profile, product);
  if (!fitted) return tl::unexpected(fitted.error());
  return *fitted ? std::optional<int>((*fitted)->value) : std::nullopt;
}

/// Also finds out, before the matrix is converted, whether there is a kernel at all.
Result<cuda::ConvertParameters> choose_parameters(const Operation& op, const formats::FormatLayout& layout,
                                                  const DeviceCsr& csr, const PlanOptions& options,
                                                  const cuda::DeviceInfo& device) {
  const auto chosen = choose_kernel({&op, layout.name, csr.value_dtype}, options, device);
  if (!chosen) return tl::unexpected(chosen.error());
  cuda::ConvertParameters parameters;
  parameters.with_source = options.refreshable && (layout.name != "csr" || csr.row_order != nullptr);
  if (!layout.is_fitted()) return parameters;
  const auto threshold =
      find_threshold(split_product(op, layout.name, csr.value_dtype, *chosen, options), device);
  if (!threshold) return tl::unexpected(threshold.error());
  parameters.parameter = *threshold;
  return parameters;
}

}  // namespace

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
    return fail(Errc::usage,
                "plan: no format is called " + std::string(format) + "; 'sptile list formats' names them");
  const auto parameters = choose_parameters(op, *layout, csr, options, *device);
  if (!parameters) return tl::unexpected(parameters.error());
  const Result<DeviceFormat> converted = cuda::convert_on_device(*layout, csr, *parameters, nullptr);
  if (!converted) return tl::unexpected(converted.error());
  HostIndex index;
  const Result<PlanMatrix> matrix = fetch_index(*converted, csr, index);
  if (!matrix) return tl::unexpected(matrix.error());
  return plan_product(op, *matrix, {&*converted, csr.row_order}, options);
}

}  // namespace sptile::runtime
