// Which sptile this is.
#pragma once

#include <string_view>

namespace sptile::tools {

/// "0.1.0"
std::string_view version();

}  // namespace sptile::tools
