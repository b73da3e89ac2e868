// Upload of a format to the current device.
#pragma once

#include <memory>

#include "formats/core/error.hpp"
#include "runtime/core/matrix.hpp"
#include "runtime/cuda/device/upload.hpp"
#include "runtime/cuda/device_format.hpp"

namespace sptile::runtime::cuda {

/// Enqueues copies of a format, its row order and, if `with_source`, its value_source, in one allocation.
/// Errc::device, naming the bytes, if device memory is short.
Result<std::shared_ptr<DeviceFormat>> upload_format(const PlanMatrix& matrix, bool with_source, int ordinal,
                                                    Uploader& uploader);

}  // namespace sptile::runtime::cuda
