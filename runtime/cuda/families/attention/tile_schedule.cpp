#include "runtime/cuda/families/attention/tile_schedule.hpp"

#include <algorithm>
#include <vector>

#include "formats/layout/blocks.hpp"

namespace sptile::runtime::cuda {
namespace {

using formats::Blocks;

constexpr TileAttentionPolicy kPolicy;

/// Returns the tiles per warp of the device.
std::int64_t share_of(const Blocks& blocks, const ScheduleRequest& request) {
  const std::int64_t warps = std::int64_t{kPolicy.warps_per_sm} * std::max(request.device.sm_count, 1);
  return blocks.tiles() * request.variant.heads / warps;
}

struct Division {
  std::vector<AttentionItem> items;
  std::vector<SplitAttention> splits;
  std::int32_t slots = 0;  ///< slots of windows with several teams
};

/// Appends the pieces of one window.
void cut_window(Division& division, const Blocks& blocks, std::int64_t window, std::int64_t most) {
  const auto w = static_cast<std::size_t>(window);
  const std::int64_t begin = blocks.tile_offset[w], end = blocks.tile_offset[w + 1];
  const std::int64_t teams = std::min((end - begin + kAttentionTeam * most - 1) / (kAttentionTeam * most),
                                      std::int64_t{kPolicy.max_teams});
  const std::int64_t pieces = kAttentionTeam * teams;
  const auto split = static_cast<std::int32_t>(division.splits.size());
  std::int64_t value = blocks.first_value(window);
  division.splits.push_back({division.slots, static_cast<std::int32_t>(teams)});
  for (std::int64_t p = 0; p < pieces; ++p) {
    const std::int64_t from = begin + (end - begin) * p / pieces,
                       to = begin + (end - begin) * (p + 1) / pieces;
    const auto slot = static_cast<std::int32_t>(division.slots + p / kAttentionTeam);
    division.items.push_back({value, static_cast<std::int32_t>(from), static_cast<std::int32_t>(to),
                              static_cast<std::int32_t>(window), slot, split});
    value += blocks.values_between(from, to);
  }
  if (teams > 1) division.slots += static_cast<std::int32_t>(teams);
}

Division divide(const Blocks& blocks, std::int64_t share) {
  Division division;
  const std::int64_t most = std::clamp<std::int64_t>(share, kPolicy.min_piece, kPolicy.max_piece);
  const auto is_long = [&](std::int64_t w) {
    const std::int64_t tiles = std::int64_t{blocks.tile_offset[static_cast<std::size_t>(w + 1)]} -
                               blocks.tile_offset[static_cast<std::size_t>(w)];
    return tiles > std::max<std::int64_t>(kPolicy.max_single_tiles, share / kPolicy.items_per_warp);
  };
  for (std::int64_t w = 0; w < blocks.windows(); ++w)
    if (is_long(w)) cut_window(division, blocks, w, most);
  for (std::int64_t w = 0; w < blocks.windows(); ++w)
    if (!is_long(w))
      division.items.push_back({blocks.first_value(w), blocks.tile_offset[static_cast<std::size_t>(w)],
                                blocks.tile_offset[static_cast<std::size_t>(w + 1)],
                                static_cast<std::int32_t>(w), -1, -1});
  return division;
}

}  // namespace

Schedule schedule_tile_attention(const ScheduleRequest& request) {
  const Blocks blocks = formats::blocks_of(request.format);
  const Division division = divide(blocks, share_of(blocks, request));
  const std::int64_t heads = request.variant.heads;
  Schedule schedule;
  TileAttentionHeader header;
  reserve(schedule, division.items, division.splits);
  header.item_count = std::ssize(division.items);
  header.items_at = append(schedule, division.items);
  header.split_count = std::ssize(division.splits);
  header.splits_at = append(schedule, division.splits);
  // Operands that are not aligned run in the widest kernel whatever their columns.
  header.scratch = append_scratch(schedule, header.split_count * heads,
                                  division.slots * heads * 32 * 4 * attention_numbers(kMostTileColumns));
  schedule.header.set(header);
  return schedule;
}

}  // namespace sptile::runtime::cuda
