// Aligned plain-text tables.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sptile::tools {

/// Formats rows of cells in columns two spaces apart; the first row is the header. `alignment` has one letter
/// a column: 'l' or 'r'. The last column is never padded on the right. On a terminal (standard output)
/// nothing is wider than that: a last column of text is wrapped, and where there is no room for it each row
/// becomes a paragraph of "header: cell". In files and pipes every row is a line.
std::string format_table(const std::vector<std::vector<std::string>>& rows, std::string_view alignment);

/// The same for `columns` of a terminal; nothing: as wide as it takes.
std::string format_table(const std::vector<std::vector<std::string>>& rows, std::string_view alignment,
                         std::optional<int> columns);

/// One line of such a table, without its end, in columns of given widths.
std::string format_line(const std::vector<std::string>& cells, std::string_view alignment,
                        std::span<const std::size_t> widths);

}  // namespace sptile::tools
