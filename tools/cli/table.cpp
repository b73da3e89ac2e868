#include "tools/cli/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "tools/cli/colour.hpp"
#include "tools/cli/terminal.hpp"
#include "tools/cli/text_layout.hpp"

namespace sptile::tools {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t kGap = 2;
constexpr int kMinText = 24;  // minimum columns for wrapped text

std::vector<std::size_t> widths_of(const Rows& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], static_cast<std::size_t>(display_width(row[c])));
  return widths;
}

// Formats each row as a paragraph: its first cell, then "header cell, header cell".
std::string format_paragraphs(const Rows& rows, int columns) {
  std::string text;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    std::string facts;
    for (std::size_t c = 1; c < rows[r].size(); ++c)
      if (!rows[r][c].empty())
        facts += fmt::format("{}{} {}", facts.empty() ? "" : ", ", rows[0][c], rows[r][c]);
    text += styled(Style::heading, rows[r][0]) + "\n    " + wrap(facts, columns, 4, 4) + "\n";
  }
  return text;
}

}  // namespace

std::string format_line(const std::vector<std::string>& cells, std::string_view alignment,
                        std::span<const std::size_t> widths) {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c > 0) line.append(kGap, ' ');
    const auto taken = static_cast<std::size_t>(display_width(cells[c]));
    const std::string blanks(widths[c] - std::min(widths[c], taken), ' ');
    line += alignment[c] == 'r' ? blanks + cells[c] : cells[c] + blanks;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string format_table(const Rows& rows, std::string_view alignment) {
  return format_table(rows, alignment, terminal_columns(stdout));
}

std::string format_table(const Rows& rows, std::string_view alignment, std::optional<int> columns) {
  assert(std::ranges::all_of(rows, [&](const auto& row) { return row.size() == alignment.size(); }));
  const std::vector<std::size_t> widths = widths_of(rows);
  std::size_t before_last = 0;
  for (std::size_t c = 0; c + 1 < widths.size(); ++c) before_last += widths[c] + kGap;
  const int last = static_cast<int>(before_last);
  const bool fits = !columns || last + static_cast<int>(widths.back()) <= *columns;
  if (!fits && (alignment.back() != 'l' || *columns - last < kMinText))
    return format_paragraphs(rows, *columns);
  std::string text;
  for (auto row : rows) {
    if (!fits) row.back() = wrap(row.back(), *columns, last, last);
    const std::string line = format_line(row, alignment, widths);
    text += (text.empty() ? styled(Style::heading, line) : line) + "\n";
  }
  return text;
}

}  // namespace sptile::tools
