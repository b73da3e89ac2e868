#include "tools/pipeline/names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "formats/layout/registry.hpp"
#include "tools/pipeline/synonyms.hpp"

namespace sptile::tools {
namespace {

// Messages print at most this many names; only kernels exceed it.
constexpr std::size_t kReadable = 40;

// Returns the optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}
// Returns the name in lower case without separators: papers and users write RS-Tile and w-Jaccard.
std::string folded(std::string_view name) {
  std::string result;
  for (const char c : name)
    if (c != '-' && c != '_' && c != ' ')
      result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}
}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  if (name.empty() || name.size() > 64) return {};
  if (std::string same = same_meaning(name, known); !same.empty()) return same;
  std::size_t best = std::max<std::size_t>(name.size() / 3, 1) + 1;
  std::string nearest;
  for (const std::string& candidate : known) {
    const bool prefix = name.size() >= 2 && candidate.starts_with(name);
    const std::size_t distance = prefix ? 1 : edit_distance(name, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

Error unknown_name(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(name, known);
  const std::string hint = nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
  const bool listed = what.find(' ') == what.npos;  // listed by `sptile list`
  const std::string all = listed && known.size() > kReadable
                              ? fmt::format("'sptile list {}s' prints all {}", what, known.size())
                              : fmt::format("Known: {}", fmt::join(known, ", "));
  return {Errc::usage, fmt::format("unknown {} '{}'{} {}", what, name, hint.empty() ? "." : hint, all), {}};
}

Result<std::size_t> find_name(std::string_view what, std::string_view name,
                              const std::vector<std::string>& known) {
  auto found = std::find(known.begin(), known.end(), name);
  if (found == known.end() && !folded(name).empty())
    found = std::find_if(known.begin(), known.end(),
                         [&](const std::string& other) { return folded(other) == folded(name); });
  if (found == known.end()) return tl::unexpected(unknown_name(what, name, known));
  return static_cast<std::size_t>(found - known.begin());
}

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> items;
  while (true) {
    const std::size_t comma = list.find(',');
    items.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return items;
    list.remove_prefix(comma + 1);
  }
}

Result<std::vector<std::string>> parse_names(std::string_view what, std::string_view list,
                                             const std::vector<std::string>& known) {
  if (list == "all") return known;
  std::vector<std::string> names;
  for (const std::string& name : split_list(list)) {
    const auto at = find_name(what, name, known);
    if (!at) return tl::unexpected(at.error());
    if (std::find(names.begin(), names.end(), known[*at]) == names.end()) names.push_back(known[*at]);
  }
  return names;
}

std::vector<std::string> names_with(std::string_view word, std::vector<std::string> names) {
  names.insert(names.begin(), std::string(word));
  return names;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const formats::FormatLayout* layout : formats::layouts()) names.emplace_back(layout->name);
  return names;
}

}  // namespace sptile::tools
