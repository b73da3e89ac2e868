// Aligned plain-text tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sptile::tools {

/// Formats rows of cells in columns two spaces apart; the first row is the header. `alignment` has one letter
/// a column: 'l' or 'r'. The last column is never padded on the right.
std::string format_table(const std::vector<std::vector<std::string>>& rows, std::string_view alignment);

}  // namespace sptile::tools
