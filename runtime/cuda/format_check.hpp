// Checks of formats on a device, behind their upload: there they take as long as reading the arrays. Part of
// the seam (backend.hpp).
#pragma once

#include <cstdint>

#include "formats/core/error.hpp"
#include "formats/layout/format_layout.hpp"

namespace sptile::runtime::cuda {

struct DeviceFormat;  // device_format.hpp

/// True for formats whose contents can be checked on a device. All of them have FormatLayout::check_offsets.
bool has_device_check(const formats::FormatLayout& layout);

/// Enqueues the check of a format whose lengths and offsets are good, of its row order and its value_source:
/// of all that FormatLayout::check_contents verifies, and that the orders are permutations. `fault` is
/// written when something is wrong: a number that the device and the host can write. What is wrong, the
/// host's checks say.
Status start_check(const DeviceFormat& format, std::uint32_t* fault, void* stream);

}  // namespace sptile::runtime::cuda
