// Plans for CSR matrices in the memory of a device: no bundle, no conversion on the host.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "runtime/cuda/device_format.hpp"
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/plan/held_format.hpp"
#include "runtime/plan/plan.hpp"

namespace sptile::runtime {

/// The parameter with which a matrix is converted to a format for a plan, if the device's profile has one:
/// libra_spmm and libra_sddmm are split for SpMM with the threshold of the kernel, its precision and the
/// nearest N; for SDDMM and refreshable matrices, whose plans may share values, with that of usual_product.
/// Also finds out whether there is a kernel at all: errors as of planning.
Result<std::optional<int>> parameter_for(const Operation& op, const formats::FormatLayout& layout,
                                         DType values, std::int64_t cols, const PlanOptions& options,
                                         const cuda::DeviceInfo& device);

/// Converts to a format on the device of the matrix; the arrays may go when this returns. What divides the
/// work (offsets, masks) is fetched, about a byte per entry. Errors as of cuda::convert_on_device.
Result<std::shared_ptr<HeldFormat>> hold_converted(const formats::FormatLayout& layout,
                                                   const cuda::DeviceCsr& csr, std::optional<int> parameter,
                                                   const HoldOptions& options, void* stream);

/// Converts to `format` and plans `op`. Work that writes the arrays must be done, or be on the default
/// stream. options.device must be cuda; options.device_ordinal and csr.ordinal are the same device.
/// Errc::usage for an unknown format.
Result<std::shared_ptr<ProductPlan>> plan_from_device(const Operation& op, const cuda::DeviceCsr& csr,
                                                      std::string_view format, const PlanOptions& options);

}  // namespace sptile::runtime
