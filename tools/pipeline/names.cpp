#include "tools/pipeline/names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "formats/core/nearest_name.hpp"
#include "formats/layout/registry.hpp"
#include "tools/pipeline/synonyms.hpp"

namespace sptile::tools {
namespace {

// Messages print at most this many names; only kernels exceed it.
constexpr std::size_t kReadable = 40;

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
  if (std::string same = same_meaning(name, known); !same.empty()) return same;
  return std::string(formats::nearest_name(name, known));
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

std::vector<std::string> split_names(std::string_view list) {
  std::vector<std::string> names;
  for (std::string& item : split_list(list)) {
    const bool is_setting = item.find('=') != std::string::npos && item.find(':') == std::string::npos;
    if (is_setting && !names.empty())
      names.back() += "," + item;
    else
      names.push_back(std::move(item));
  }
  return names;
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
