#include "tools/cli/version.hpp"

namespace sptile::tools {

std::string_view version() { return SPTILE_VERSION; }

}  // namespace sptile::tools
