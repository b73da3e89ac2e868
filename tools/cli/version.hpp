// Version of sptile.
#pragma once

#include <string_view>

namespace sptile::tools {

/// Returns the version, for example "0.1.0".
std::string_view version();

}  // namespace sptile::tools
