// Division of a matrix between tensor cores and CUDA cores.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/layout/format_layout.hpp"
#include "tools/cli/result.hpp"

namespace sptile::tools {

/// Windows with tiles and entries in tiles, with the totals.
struct CoreShares {
  std::int64_t tensor_windows = 0, windows = 0, tensor_entries = 0, entries = 0;
};

/// Counts the windows with tiles and the entries in tiles; nullopt for formats whose windows do not cover all
/// rows, and for those with tiles only. Invalid contents give wrong numbers, but are never read out of
/// bounds. O(windows).
std::optional<CoreShares> core_shares(const formats::FormatView& view);

/// Returns "hc_window: 12.5% of 80 windows have tiles, with 60.0% of 1234 entries; CUDA cores have the
/// others\n"; empty for formats without shares.
std::string core_shares_text(std::string_view format, const std::optional<CoreShares>& shares);

/// Returns tensor_windows, windows and tensor_entries; null without shares.
Json to_json(const std::optional<CoreShares>& shares);

}  // namespace sptile::tools
