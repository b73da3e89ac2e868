// A format in host memory, copied to the current device.
#pragma once

#include <memory>

#include "formats/core/error.hpp"
#include "runtime/core/matrix.hpp"
#include "runtime/cuda/device/upload.hpp"
#include "runtime/cuda/device_format.hpp"

namespace sptile::runtime::cuda {

/// Starts to copy a format, its row order and, `with_source`, its value_source, in one allocation.
/// Errc::device naming the bytes when the device has no room.
Result<std::shared_ptr<DeviceFormat>> upload_format(const PlanMatrix& matrix, bool with_source, int ordinal,
                                                    Uploader& uploader);

}  // namespace sptile::runtime::cuda
