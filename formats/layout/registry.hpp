// The table of formats.
#pragma once

#include <span>
#include <string_view>

#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

/// Returns every format, `csr` first.
std::span<const FormatLayout* const> layouts();

/// Returns the format with this name, or nullptr.
const FormatLayout* find_layout(std::string_view name);

}  // namespace sptile::formats
