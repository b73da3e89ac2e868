// Plans for CSR matrices in device memory, without a bundle and without conversion on the host.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "runtime/cuda/device_format.hpp"
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/plan/held_format.hpp"
#include "runtime/plan/plan.hpp"

namespace sptile::runtime {

/// Returns the parameter for converting a matrix to a format, if the device's profile has one. libra_spmm and
/// libra_sddmm are split for SpMM with the threshold of the kernel, its precision and the nearest N; for
/// SDDMM and refreshable matrices, whose plans may share values, with the threshold of usual_product. Also
/// checks that a kernel exists. Errors as for planning.
Result<std::optional<int>> parameter_for(const Operation& op, const formats::FormatLayout& layout,
                                         DType values, std::int64_t cols, const PlanOptions& options,
                                         const cuda::DeviceInfo& device);

/// Converts a matrix to a format on its device. The arrays may be freed afterwards. Copies the arrays that
/// determine the division of work (offsets, masks) to the host, about one byte per entry. Errors as for
/// cuda::convert_on_device.
Result<std::shared_ptr<HeldFormat>> hold_converted(const formats::FormatLayout& layout,
                                                   const cuda::DeviceCsr& csr, std::optional<int> parameter,
                                                   const HoldOptions& options, void* stream);

/// Converts to `format` and plans `op`. Work that writes the arrays must have completed or be on the default
/// stream. options.device must be cuda, and options.device_ordinal must equal csr.ordinal. Errc::usage for an
/// unknown format.
Result<std::shared_ptr<ProductPlan>> plan_from_device(const Operation& op, const cuda::DeviceCsr& csr,
                                                      std::string_view format, const PlanOptions& options);

}  // namespace sptile::runtime
