// A file that says which part owns each row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/core/error.hpp"

namespace sptile::tools {

/// Reads one part number a line, 0 .. parts - 1, for each row in turn, as gpmetis writes them; empty lines
/// and those that start with % or # are passed over. May be compressed. Errc::bad_input names the line.
Result<std::vector<std::int32_t>> read_assignment(const std::string& path, std::int64_t rows,
                                                  std::int32_t parts);

}  // namespace sptile::tools
