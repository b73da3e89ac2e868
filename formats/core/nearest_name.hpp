// Proposals for misspelled names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace sptile::formats {

/// Returns the optimal string alignment distance of two names: the number of insertions, deletions,
/// substitutions and transpositions of neighbours that turn one into the other. O(|a| |b|).
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
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

/// Returns the known name with the fewest edits, at most one per three characters. A prefix of a name counts
/// as one edit. Empty if no name is that close.
template <class Names>
std::string_view nearest_name(std::string_view name, const Names& known) {
  if (name.empty() || name.size() > 64) return {};
  std::size_t best = std::max<std::size_t>(name.size() / 3, 1) + 1;
  std::string_view nearest;
  for (const std::string_view candidate : known) {
    const bool prefix = name.size() >= 2 && candidate.starts_with(name);
    const std::size_t distance = prefix ? 1 : edit_distance(name, candidate);
    if (distance >= best) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace sptile::formats
