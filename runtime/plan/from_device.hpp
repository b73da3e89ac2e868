// Plans for CSR matrices in the memory of a device: no bundle, no conversion on the host.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/cuda/device_format.hpp"
#include "runtime/plan/plan.hpp"

namespace sptile::runtime {

/// Converts to `format` on the device of the matrix and plans `op` there; the matrix is not
/// uploaded. The arrays may go when this returns; work that writes them must be done, or be on the default
/// stream. libra_spmm and libra_sddmm are split with the threshold that the device's profile has, if any: for
/// SpMM that of the kernel, its precision and the nearest N; for SDDMM and refreshable plans, which may share
/// values, that of usual_product. What divides the work (offsets, masks) is fetched, about a byte per entry.
/// options.device must be cuda; options.device_ordinal and csr.ordinal are the same device. Errors as of
/// plan_spmm and cuda::convert_on_device; Errc::usage for an unknown format.
Result<std::shared_ptr<ProductPlan>> plan_from_device(const Operation& op, const cuda::DeviceCsr& csr,
                                                      std::string_view format, const PlanOptions& options);

}  // namespace sptile::runtime
