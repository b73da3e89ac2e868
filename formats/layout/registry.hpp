// The table of formats.
#pragma once

#include <span>
#include <string_view>

#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

/// Lists every format, `csr` first.
std::span<const FormatLayout* const> layouts();

/// Finds a format by name; nullptr when there is none.
const FormatLayout* find_layout(std::string_view name);

}  // namespace sptile::formats
