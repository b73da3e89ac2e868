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
/// per column: 'l' or 'r'. The last column has no trailing padding. On a terminal (standard output) lines fit
/// its width: a last column of text is wrapped, and if it would be too narrow, each row becomes a paragraph
/// of "header: cell". In files and pipes every row is one line.
std::string format_table(const std::vector<std::vector<std::string>>& rows, std::string_view alignment);

/// Formats a table for `columns` columns; nullopt: unlimited.
std::string format_table(const std::vector<std::vector<std::string>>& rows, std::string_view alignment,
                         std::optional<int> columns);

/// Formats one line of a table, without newline, in columns of the given widths.
std::string format_line(const std::vector<std::string>& cells, std::string_view alignment,
                        std::span<const std::size_t> widths);

}  // namespace sptile::tools
