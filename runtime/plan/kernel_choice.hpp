// Choice of a kernel for one format.
#pragma once

#include <vector>

#include "runtime/choice/prediction.hpp"
#include "runtime/plan/held_format.hpp"

namespace sptile::runtime {

/// Returns the candidates of a held format, as predict_product. Of a format that a device converted, the
/// column lists are read from the device as far as the sample needs them.
Result<std::vector<Candidate>> predict_held(const Operation& op, const HeldFormat& held,
                                            const PlanOptions& options, Detail detail);

/// Returns the kernel of options.kernel, otherwise the one with the lowest predicted time, otherwise, without
/// a profile of the device, the best of the table. Errors as for choose_kernel and predict_product.
Result<KernelChoice> choose_held_kernel(const Operation& op, const HeldFormat& held,
                                        const PlanOptions& options, const cuda::DeviceInfo& device);

}  // namespace sptile::runtime
