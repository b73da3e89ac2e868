// Division of tile windows for attention, computed on the host. Plain C++.
//
// A warp processes one window of one head. Long windows are processed by teams: each warp of a block
// processes a piece, and they merge their maxima, sums and weighted rows in shared memory. If a window has
// several teams, their results are stored in the workspace, and the last team to arrive merges all of them in
// order.
#pragma once

#include <cstdint>

#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/families/attention/policy.hpp"

namespace sptile::runtime::cuda {

/// Work of one warp. `slot` < 0: an entire window; otherwise a piece, whose team stores its result in that
/// slot.
struct alignas(16) AttentionItem {
  std::int64_t value_begin;  ///< first entry of the first tile
  std::int32_t tile_begin, tile_end;
  std::int32_t window;
  std::int32_t slot;
  std::int32_t split;  ///< index of a piece's window among split windows
  std::int32_t unused = 0;
};
static_assert(sizeof(AttentionItem) == 32);

inline constexpr int kAttentionTeam = TileAttentionPolicy{}.team_warps;

/// A window of several teams, whose slots are consecutive.
struct SplitAttention {
  std::int32_t first_slot, teams;
};

/// Launch parameters; `..._at` are offsets in Schedule::bytes.
struct TileAttentionHeader {
  std::int64_t items_at = 0, item_count = 0;
  std::int64_t splits_at = 0, split_count = 0;
  ScheduleScratch scratch;
};

inline constexpr std::int64_t kMostTileColumns = 64;  ///< maximum columns of X and V

/// Returns the f32 numbers that a lane stores, for `columns` columns of V.
constexpr std::int64_t attention_numbers(std::int64_t columns) { return columns / 2 + 4; }

/// Divides the windows of bmat; items of teams are first. O(windows + tiles of long ones).
Schedule schedule_tile_attention(const ScheduleRequest& request);

}  // namespace sptile::runtime::cuda
