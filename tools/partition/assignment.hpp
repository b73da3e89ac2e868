// Reader of a file with the part of each row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/core/error.hpp"

namespace sptile::tools {

/// Reads one part number per line, 0 to parts - 1, for each row in order, as written by gpmetis. Skips empty
/// lines and those that start with % or #. May be compressed. Errc::bad_input names the line.
Result<std::vector<std::int32_t>> read_assignment(const std::string& path, std::int64_t rows,
                                                  std::int32_t parts);

}  // namespace sptile::tools
