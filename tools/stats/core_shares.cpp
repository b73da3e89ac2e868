#include "tools/stats/core_shares.hpp"

#include <fmt/format.h>

#include "formats/layout/blocks.hpp"
#include "tools/cli/json.hpp"

namespace sptile::tools {
namespace {

double percent(std::int64_t part, std::int64_t all) {
  return all > 0 ? 100 * static_cast<double>(part) / static_cast<double>(all) : 0;
}

}  // namespace

std::optional<CoreShares> core_shares(const formats::FormatView& view) {
  const formats::Blocks blocks = formats::blocks_of(view);
  if (blocks.placement != formats::WindowPlacement::regular || blocks.rows.offset.empty())
    return std::nullopt;
  CoreShares shares{0, blocks.windows(), view.nnz - std::ssize(blocks.rows.columns), view.nnz};
  for (std::size_t w = 1; w < blocks.tile_offset.size(); ++w)
    shares.tensor_windows += blocks.tile_offset[w] != blocks.tile_offset[w - 1];
  return shares;
}

std::string core_shares_text(std::string_view format, const std::optional<CoreShares>& shares) {
  if (!shares) return "";
  return fmt::format(
      "{}: {:.1f}% of {} windows have tiles, with {:.1f}% of {} entries; CUDA cores multiply the others\n",
      format, percent(shares->tensor_windows, shares->windows), shares->windows,
      percent(shares->tensor_entries, shares->entries), shares->entries);
}

Json to_json(const std::optional<CoreShares>& shares) {
  if (!shares) return nullptr;
  return {{"tensor_windows", shares->tensor_windows},
          {"windows", shares->windows},
          {"tensor_entries", shares->tensor_entries}};
}

}  // namespace sptile::tools
