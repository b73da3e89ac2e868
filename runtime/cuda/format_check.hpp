// Checks of formats on a device after their upload, as fast as reading the arrays. Part of the CUDA interface
// (backend.hpp).
#pragma once

#include <cstdint>

#include "formats/core/error.hpp"
#include "formats/layout/format_layout.hpp"

namespace sptile::runtime::cuda {

struct DeviceFormat;  // defined in device_format.hpp

/// Returns whether the contents of a format can be checked on a device. All such formats have
/// FormatLayout::check_offsets.
bool has_device_check(const formats::FormatLayout& layout);

/// Enqueues the check of a format with valid lengths and offsets, its row order and its value_source:
/// everything verified by FormatLayout::check_contents, and that the orders are permutations. Sets `fault`,
/// which device and host can write, if something is invalid. The checks on the host then give the reason.
Status start_check(const DeviceFormat& format, std::uint32_t* fault, void* stream);

}  // namespace sptile::runtime::cuda
