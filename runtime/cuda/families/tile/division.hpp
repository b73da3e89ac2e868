// Division of a windowed format among warps, computed on the host. Plain C++.
//
// An item is the work of one warp for one slice of the columns of B: a run of complete windows, or one piece
// of a long window. Items have similar costs: a window costs its tiles plus window_cost for writing its rows
// (Acc-SpMM, PPoPP 2025, section 3.5, counts the write-back in the same way). Windows far above the target
// are split into pieces, whose sums are stored in the workspace and added in an order that does not depend on
// timing.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "formats/layout/blocks.hpp"
#include "runtime/cuda/device/qualifiers.hpp"
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/families/tile/policy.hpp"
#include "runtime/cuda/stored_schedule.hpp"

namespace sptile::runtime::cuda {

inline constexpr int kMaxItemWindows = 32;  ///< one per lane of the warp

/// Work of one warp. `slot` < 0: complete windows [window_begin, window_end); otherwise one piece of window
/// window_begin, whose sums are stored in that slot of the workspace.
struct alignas(16) TileItem {
  std::int64_t value_begin;  ///< first entry of the first tile
  std::int32_t tile_begin, tile_end;
  std::int32_t window_begin, window_end;
  std::int32_t slot;
  std::int32_t split = -1;  ///< the split window of the piece
};
static_assert(sizeof(TileItem) == 32);

/// A window in pieces: slots [first_slot, first_slot + count) hold its partial sums, in order. The warp
/// that stores the last of kSumGroup adjacent pieces adds them, and the sums of such groups are pieces again;
/// each group has a counter. With teams a piece here is what a team of warps adds up in its block.
struct SplitWindow {
  std::int32_t first_slot, count, first_counter;
};
inline constexpr int kSumGroup = 32;
/// Returns the number of groups of `pieces` pieces.
SPTILE_HOST_DEVICE constexpr std::int32_t sum_groups(std::int32_t pieces) {
  return (pieces + kSumGroup - 1) / kSumGroup;
}
/// Returns the number of counters of a window in `pieces` pieces: one per group of each level.
constexpr std::int32_t sum_counters(std::int32_t pieces) {
  std::int32_t counters = 0;
  for (; pieces > 1; pieces = sum_groups(pieces)) counters += sum_groups(pieces);
  return counters;
}

/// Rows of equal length that are multiplied entry by entry: at most 32 rows, and at most 32 entries unless it
/// is a single row. Class 0: empty rows.
struct alignas(8) ShortRows {
  std::int64_t entry_begin;
  std::int32_t row_begin, rows;  ///< positions in the list of rows of the class: short rows or empty rows
  std::int32_t length;
  std::int32_t unused = 0;
  friend bool operator==(const ShortRows&, const ShortRows&) = default;
};
static_assert(sizeof(ShortRows) == 24);

/// Windows to divide: all or some of a format.
struct TileWindows {
  std::span<const std::int32_t> tile_offset;  ///< windows + 1
  const formats::Blocks& blocks;

  [[nodiscard]] std::int64_t count() const { return std::ssize(tile_offset) - 1; }
};

/// Policy of a division, with the sizes of the kernel that planning has chosen.
struct TileTuning : TilePolicy {
  int slices = 1;  ///< parts of the columns of B, each multiplied by separate warps
};

struct TileSchedule {
  std::vector<TileItem> items;  ///< long windows first, the others in order and finally decreasing
  std::vector<SplitWindow> splits;
  /// the first items belong to teams, tuning.team_warps each; 0: pieces have no teams
  std::int32_t teams = 0;
  std::int32_t slots = 0;     ///< slots of partial sums
  std::int32_t counters = 0;  ///< counters of arrived pieces
};

/// Returns the cost of all windows for one slice, in tiles.
std::int64_t cost_of(const TileWindows& windows, const TileTuning& tuning);

/// Divides the windows. O(windows), and O(tiles) of split windows.
TileSchedule divide_windows(const TileWindows& windows, const TileTuning& tuning, const DeviceInfo& device);

/// A function that divides windows: divide_windows, or the one of a kernel of a paper.
using DivideWindows = TileSchedule (*)(const TileWindows& windows, const TileTuning& tuning,
                                       const DeviceInfo& device);

/// Collects the items of an external division in order.
class ItemList {
 public:
  explicit ItemList(const TileWindows& windows) : windows_(windows) {}

  /// Adds complete windows, for one warp if there are at most kMaxItemWindows.
  void add_windows(std::int64_t begin, std::int64_t end);
  /// Adds a window in pieces that begin at `first_tiles`.
  void add_pieces(std::int64_t window, std::span<const std::int32_t> first_tiles);
  /// Returns the collected schedule.
  TileSchedule take() { return std::move(schedule_); }

 private:
  void add(TileItem item);

  const TileWindows& windows_;
  TileSchedule schedule_;
};

/// Slots and counters of a division.
struct DivisionTotals {
  std::int32_t slots = 0, counters = 0;
};

/// Verifies that items and splits divide the windows: the segments of each split window are consecutive,
/// `team` per slot, and so are split windows. Runs of complete windows have any order. Teams have the first
/// items; without teams, segments may be anywhere between the runs.
DivisionTotals check_division(ScheduleReader& reader, const TileWindows& windows,
                              std::span<const TileItem> items, std::span<const SplitWindow> splits, int team);

}  // namespace sptile::runtime::cuda
