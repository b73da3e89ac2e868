// Division of windows of tiles for attention, made on the host when planning. Plain C++.
//
// A warp has one window for one head. Long windows are the work of teams: the warps of a block have a piece
// each, and merge their maxima, sums and weighted rows in shared memory. Where a window has several teams,
// what they made waits in the workspace, and whoever brings the last merges all, in order.
#pragma once

#include <cstdint>

#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

/// One warp's work. `slot` < 0: a whole window; otherwise a piece of one, whose team leaves what it made in
/// that slot.
struct alignas(16) AttentionItem {
  std::int64_t value_begin;  ///< first entry of the first tile
  std::int32_t tile_begin, tile_end;
  std::int32_t window;
  std::int32_t slot;
  std::int32_t split;  ///< of a piece: its window among those in pieces
  std::int32_t unused = 0;
};
static_assert(sizeof(AttentionItem) == 32);

inline constexpr int kAttentionTeam = 4;  ///< warps of a block

/// A window of teams, which have neighbouring slots.
struct SplitAttention {
  std::int32_t first_slot, teams;
};

/// What launching reads; `..._at` are offsets in Schedule::bytes.
struct TileAttentionHeader {
  std::int64_t items_at = 0, item_count = 0;
  std::int64_t splits_at = 0, split_count = 0;
  ScheduleScratch scratch;
};

inline constexpr std::int64_t kMostTileColumns = 64;  ///< of X and V

/// Numbers of f32 that a lane leaves behind, for so many columns of V.
constexpr std::int64_t attention_numbers(std::int64_t columns) { return columns / 2 + 4; }

/// Divides the windows of bmat; items of teams come first. O(windows + tiles of long ones).
Schedule schedule_tile_attention(const ScheduleRequest& request);

}  // namespace sptile::runtime::cuda
