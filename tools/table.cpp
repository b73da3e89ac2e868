#include "tools/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace sptile::tools {

std::string format_line(const std::vector<std::string>& cells, std::string_view alignment,
                        std::span<const std::size_t> widths) {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c > 0) line += "  ";
    line += alignment[c] == 'r' ? fmt::format("{:>{}}", cells[c], widths[c])
                                : fmt::format("{:<{}}", cells[c], widths[c]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string format_table(const std::vector<std::vector<std::string>>& rows, std::string_view alignment) {
  std::vector<std::size_t> widths(alignment.size(), 0);
  for (const auto& row : rows) {
    assert(row.size() == alignment.size());
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows) text += format_line(row, alignment, widths) + "\n";
  return text;
}

}  // namespace sptile::tools
