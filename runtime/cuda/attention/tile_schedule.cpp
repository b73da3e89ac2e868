#include "runtime/cuda/attention/tile_schedule.hpp"

#include <algorithm>
#include <vector>

#include "formats/layout/blocks.hpp"

namespace sptile::runtime::cuda {
namespace {

using formats::Blocks;

constexpr std::int64_t kLeastPiece = 24, kMostPiece = 96;  ///< tiles
constexpr std::int64_t kMostPieces = 128;                  ///< of a window: one warp merges them
constexpr std::int64_t kWarpsPerSm = 12;

/// Tiles of a piece of a window: so few that every warp of the device has some, if there are enough.
std::int64_t piece_of(const Blocks& blocks, const ScheduleRequest& request) {
  const std::int64_t warps = kWarpsPerSm * request.device.sm_count;
  const std::int64_t share = blocks.tiles() * request.variant.heads / std::max<std::int64_t>(warps, 1);
  return std::clamp(share / 2 * 2, kLeastPiece, kMostPiece);
}

struct Division {
  std::vector<AttentionItem> items;  ///< pieces first
  std::vector<SplitAttention> splits;
  std::int32_t slots = 0;
};

/// Appends the pieces of one window.
void cut_window(Division& division, const Blocks& blocks, std::int64_t window, std::int64_t most) {
  const auto w = static_cast<std::size_t>(window);
  const std::int64_t begin = blocks.tile_offset[w], end = blocks.tile_offset[w + 1];
  const std::int64_t pieces = std::min((end - begin + most - 1) / most, kMostPieces);
  const auto split = static_cast<std::int32_t>(division.splits.size());
  std::int64_t value = blocks.first_value(window);
  division.splits.push_back({division.slots, static_cast<std::int32_t>(pieces)});
  for (std::int64_t p = 0; p < pieces; ++p) {
    const std::int64_t from = begin + (end - begin) * p / pieces,
                       to = begin + (end - begin) * (p + 1) / pieces;
    division.items.push_back({value, static_cast<std::int32_t>(from), static_cast<std::int32_t>(to),
                              static_cast<std::int32_t>(window), division.slots++, split});
    value += blocks.values_between(from, to);
  }
}

Division divide(const Blocks& blocks, std::int64_t most) {
  Division division;
  const auto tiles = [&](std::int64_t w) {
    return std::int64_t{blocks.tile_offset[static_cast<std::size_t>(w + 1)]} -
           blocks.tile_offset[static_cast<std::size_t>(w)];
  };
  for (std::int64_t w = 0; w < blocks.windows(); ++w)
    if (tiles(w) > most + most / 2) cut_window(division, blocks, w, most);
  for (std::int64_t w = 0; w < blocks.windows(); ++w)
    if (tiles(w) <= most + most / 2)
      division.items.push_back({blocks.first_value(w), blocks.tile_offset[static_cast<std::size_t>(w)],
                                blocks.tile_offset[static_cast<std::size_t>(w + 1)],
                                static_cast<std::int32_t>(w), -1, -1});
  return division;
}

}  // namespace

Schedule schedule_tile_attention(const ScheduleRequest& request) {
  const Blocks blocks = formats::blocks_of(request.format);
  const Division division = divide(blocks, piece_of(blocks, request));
  const std::int64_t heads = request.variant.heads;
  Schedule schedule;
  TileAttentionHeader header;
  reserve(schedule, division.items, division.splits);
  header.item_count = std::ssize(division.items);
  header.items_at = append(schedule, division.items);
  header.split_count = std::ssize(division.splits);
  header.splits_at = append(schedule, division.splits);
  header.scratch = append_scratch(schedule, header.split_count * heads,
                                  division.slots * heads * 32 * 4 * kAttentionNumbers);
  schedule.header.set(header);
  return schedule;
}

}  // namespace sptile::runtime::cuda
