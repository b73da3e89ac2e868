// Aligned plain-text tables.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sptile::tools {

/// Formats rows of cells in columns two spaces apart; the first row is the header. `alignment` has one letter
/// a column: 'l' or 'r'. The last column is never padded on the right.
std::string format_table(const std::vector<std::vector<std::string>>& rows, std::string_view alignment);

/// One line of such a table, without its end, in columns of given widths.
std::string format_line(const std::vector<std::string>& cells, std::string_view alignment,
                        std::span<const std::size_t> widths);

}  // namespace sptile::tools
