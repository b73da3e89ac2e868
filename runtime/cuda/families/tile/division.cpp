#include "runtime/cuda/families/tile/division.hpp"
#include "runtime/threads/count.hpp"

#include <algorithm>
#include <string_view>

namespace sptile::runtime::cuda {
namespace {

struct Divider {
  const TileWindows& windows;
  const TileTuning& tuning;
  std::int64_t warps;      ///< warps of the device, per slice
  std::int64_t remaining;  ///< cost of the windows from the current one
  std::int64_t piece;      ///< tiles of a piece of a long window
  std::int64_t longest;    ///< tiles of a window that is not split
  std::int64_t team;       ///< warps that share a piece of a long window
  TileSchedule result = {};
  std::vector<TileItem> runs = {};

  std::int32_t first_tile(std::int64_t window) const {
    return windows.tile_offset[static_cast<std::size_t>(window)];
  }
  std::int64_t tiles(std::int64_t window) const { return first_tile(window + 1) - first_tile(window); }

  void add_run(std::int64_t begin, std::int64_t end) {
    if (begin == end) return;
    runs.push_back({0, first_tile(begin), first_tile(end), static_cast<std::int32_t>(begin),
                    static_cast<std::int32_t>(end), -1});
  }

  /// Returns the number of pieces of a split window.
  std::int64_t pieces_of(std::int64_t window) const {
    return (tiles(window) + piece * team - 1) / (piece * team);
  }

  /// Items may take megabytes, and first-touch page faults take longer than the division.
  void reserve() {
    const std::int64_t count = windows.count();
    std::int64_t items = count;  // each window is in at most one run
    for (std::int64_t w = 0; w < count; ++w)
      if (tiles(w) > longest) items += pieces_of(w) * team;
    result.items.reserve(static_cast<std::size_t>(items));
    runs.reserve(static_cast<std::size_t>(count));
  }

  void add_pieces(std::int64_t window) {
    const std::int64_t pieces = pieces_of(window), items = pieces * team;
    const auto split = static_cast<std::int32_t>(result.splits.size());
    const auto count = static_cast<std::int32_t>(pieces);
    result.splits.push_back({result.slots, count, result.counters});
    for (std::int64_t i = 0; i < items; ++i)
      result.items.push_back({0, first_tile(window) + static_cast<std::int32_t>(tiles(window) * i / items),
                              first_tile(window) + static_cast<std::int32_t>(tiles(window) * (i + 1) / items),
                              static_cast<std::int32_t>(window), static_cast<std::int32_t>(window + 1),
                              result.slots + static_cast<std::int32_t>(i / team), split});
    result.slots += count;
    result.counters += sum_counters(count);
    if (team > 1) result.teams += count;
  }

  /// Returns the cost of the next run, which decreases towards the end, so that all warps end at about the
  /// same time.
  std::int64_t target() const {
    return std::clamp<std::int64_t>(remaining / (2 * warps), tuning.min_item_cost, tuning.max_item_cost);
  }

  void divide() {
    const std::int64_t count = windows.count();
    reserve();
    std::int64_t begin = 0, cost = 0;
    for (std::int64_t w = 0; w < count; ++w) {
      const std::int64_t next = tiles(w) + tuning.window_cost;
      if (tiles(w) > longest) {
        add_run(begin, w);
        add_pieces(w);
        begin = w + 1;
        cost = 0;
      } else if (cost > 0 && (cost + next > target() || w - begin == kMaxItemWindows)) {
        add_run(begin, w);
        begin = w;
        cost = next;
      } else {
        cost += next;
      }
      remaining -= next;
    }
    add_run(begin, count);
  }
};

/// Computes the first value of each item: of runs, and of the consecutive pieces of each window. The first
/// items are `pieces`, `team` of them per slot.
void find_values(const TileWindows& windows, TileSchedule& schedule, std::int64_t pieces, std::int64_t team) {
  const formats::Blocks& blocks = windows.blocks;
#pragma omp parallel for schedule(static) num_threads(max_threads())
  for (std::int64_t i = pieces; i < std::ssize(schedule.items); ++i) {
    TileItem& run = schedule.items[static_cast<std::size_t>(i)];
    run.value_begin = blocks.first_value_of_tile(run.tile_begin);
  }
#pragma omp parallel for schedule(dynamic, 16) num_threads(max_threads())
  for (const SplitWindow& split : schedule.splits) {
    TileItem* const piece = schedule.items.data() + split.first_slot * team;
    std::int64_t value = blocks.first_value_of_tile(piece->tile_begin);
    for (std::int64_t p = 0; p < split.count * team; ++p) {
      piece[p].value_begin = value;
      value += blocks.values_between(piece[p].tile_begin, piece[p].tile_end);
    }
  }
}

/// Maximum tiles of a window that is not split, and tiles of a piece, or of a warp's part of it.
struct Lengths {
  std::int64_t longest, piece;
};

/// Returns the lengths without teams. A window of more than a warp's share would delay the end, but adding
/// pieces costs, too. If each warp has many windows, an eighth of its share is acceptable.
Lengths lengths_alone(std::int64_t share, const TileTuning& tuning) {
  const std::int64_t piece =
      std::clamp<std::int64_t>(share / tuning.rounds, tuning.min_item_cost, tuning.max_item_cost);
  return {std::max(std::clamp(3 * share / 2, 3 * piece, 6 * piece), share / 8), piece};
}

/// Returns the lengths with teams, whose sums cost little. Their warps wait for each other, so they are
/// for matrices that do not fill the device.
Lengths lengths_in_teams(const TileTuning& tuning) {
  return {std::int64_t{tuning.team_warps} * tuning.min_team_piece, tuning.max_team_piece};
}

/// Returns whether most of the work is in windows of more than `tiles` tiles.
bool mostly_longer(const TileWindows& windows, std::int64_t length) {
  std::int64_t tiles = 0;
  for (std::size_t w = 0; w + 1 < windows.tile_offset.size(); ++w)
    if (const std::int64_t mine = windows.tile_offset[w + 1] - windows.tile_offset[w]; mine > length)
      tiles += mine;
  return 2 * tiles > windows.tile_offset.back();
}

constexpr std::string_view kNoPiece = "a segment is out of order in its window",
                           kWindowTwice = "a window that does not exist or is assigned to two items";

/// Returns whether items are the pieces of one window, `team` per slot, starting at `first_slot`.
bool are_pieces(const TileWindows& windows, std::span<const TileItem> pieces, std::int32_t split,
                std::int32_t first_slot, int team) {
  const std::int32_t window = pieces.front().window_begin;
  std::int32_t tile = windows.tile_offset[static_cast<std::size_t>(window)];
  const std::int32_t end = windows.tile_offset[static_cast<std::size_t>(window) + 1];
  std::int64_t value = windows.blocks.first_value_of_tile(tile);
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const TileItem& piece = pieces[p];
    if (piece.window_begin != window || piece.window_end != window + 1 || piece.split != split ||
        piece.slot != first_slot + static_cast<std::int32_t>(p) / team || piece.tile_begin != tile ||
        piece.tile_end <= tile || piece.tile_end > end || piece.value_begin != value)
      return false;
    value += windows.blocks.values_between(tile, piece.tile_end);
    tile = piece.tile_end;
  }
  return tile == end;
}

/// Returns whether items are the pieces of all split windows; positions and windows must be valid.
bool are_all_pieces(const TileWindows& windows, std::span<const TileItem> items,
                    std::span<const SplitWindow> splits, int team) {
  bool good = true;
#pragma omp parallel for schedule(dynamic, 16) num_threads(max_threads()) reduction(&& : good) if (items.size() > 4096)
  for (std::size_t s = 0; s < splits.size(); ++s) {
    const auto first = static_cast<std::size_t>(splits[s].first_slot) * static_cast<std::size_t>(team),
               count = static_cast<std::size_t>(splits[s].count) * static_cast<std::size_t>(team);
    good = good && are_pieces(windows, items.subspan(first, count), static_cast<std::int32_t>(s),
                              splits[s].first_slot, team);
  }
  return good;
}

/// Returns whether a run of complete windows is valid.
bool is_run(const TileWindows& windows, const TileItem& run) {
  const auto offset = [&](std::int32_t w) { return windows.tile_offset[static_cast<std::size_t>(w)]; };
  return run.window_end > run.window_begin && run.window_end - run.window_begin <= kMaxItemWindows &&
         run.slot == -1 && run.split == -1 && run.tile_begin == offset(run.window_begin) &&
         run.tile_end == offset(run.window_end) &&
         run.value_begin == windows.blocks.first_value_of_tile(run.tile_begin);
}

bool is_piece(const TileItem& item) { return item.slot >= 0; }

}  // namespace

void ItemList::add(TileItem item) {
  item.value_begin = windows_.blocks.first_value_of_tile(item.tile_begin);
  schedule_.items.push_back(item);
}

void ItemList::add_windows(std::int64_t begin, std::int64_t end) {
  const auto offset = [&](std::int64_t w) { return windows_.tile_offset[static_cast<std::size_t>(w)]; };
  for (std::int64_t next = 0; begin < end; begin = next) {
    next = std::min<std::int64_t>(end, begin + kMaxItemWindows);
    add({0, offset(begin), offset(next), static_cast<std::int32_t>(begin), static_cast<std::int32_t>(next),
         -1});
  }
}

void ItemList::add_pieces(std::int64_t window, std::span<const std::int32_t> first_tiles) {
  const auto count = static_cast<std::int32_t>(first_tiles.size()),
             number = static_cast<std::int32_t>(window),
             split = static_cast<std::int32_t>(schedule_.splits.size());
  schedule_.splits.push_back({schedule_.slots, count, schedule_.counters});
  for (std::size_t p = 0; p < first_tiles.size(); ++p) {
    const std::int32_t end = p + 1 < first_tiles.size()
                                 ? first_tiles[p + 1]
                                 : windows_.tile_offset[static_cast<std::size_t>(window) + 1];
    add({0, first_tiles[p], end, number, number + 1, schedule_.slots + static_cast<std::int32_t>(p), split});
  }
  schedule_.slots += count;
  schedule_.counters += sum_counters(count);
}

DivisionTotals check_division(ScheduleReader& reader, const TileWindows& windows,
                              std::span<const TileItem> items, std::span<const SplitWindow> splits,
                              int team) {
  DivisionTotals totals;
  std::vector<TileItem> pieces_first;
  if (team == 1 && !std::is_partitioned(items.begin(), items.end(), is_piece)) {
    pieces_first.assign(items.begin(), items.end());
    std::stable_partition(pieces_first.begin(), pieces_first.end(), is_piece);
    items = pieces_first;
  }
  Owners owners(windows.count());
  for (std::size_t s = 0; s < splits.size() && reader.ok(); ++s) {
    const SplitWindow& split = splits[s];
    const std::int64_t first = std::int64_t{totals.slots} * team, left = std::ssize(items) - first;
    const bool placed = split.first_slot == totals.slots && split.first_counter == totals.counters &&
                        split.count > 0 && split.count <= left / team;
    if (!reader.require(placed, "the segments of a window have wrong positions")) break;
    const std::int64_t window = items[static_cast<std::size_t>(first)].window_begin;
    reader.require(owners.take(window, window + 1), kWindowTwice);
    totals.slots += split.count;
    totals.counters += sum_counters(split.count);
  }
  reader.require(!reader.ok() || are_all_pieces(windows, items, splits, team), kNoPiece);
  const auto runs = items.subspan(
      reader.ok() ? static_cast<std::size_t>(totals.slots) * static_cast<std::size_t>(team) : items.size());
  bool whole = true, once = true;
#pragma omp parallel for schedule(static) num_threads(max_threads()) reduction(&& : whole) if (runs.size() > 4096)
  for (const TileItem& run : runs)
    whole = whole && run.window_begin >= 0 && run.window_end < std::ssize(windows.tile_offset) &&
            is_run(windows, run);
  for (const TileItem& run : runs) once = once && owners.take(run.window_begin, run.window_end);
  reader.require(whole, "a run does not consist of complete windows");
  reader.require(once, kWindowTwice);
  reader.require(owners.complete(), "a window is not assigned to an item");
  return totals;
}

std::int64_t cost_of(const TileWindows& windows, const TileTuning& tuning) {
  return windows.tile_offset.back() + tuning.window_cost * windows.count();
}

TileSchedule divide_windows(const TileWindows& windows, const TileTuning& tuning, const DeviceInfo& device) {
  const std::int64_t cost = cost_of(windows, tuning);
  const std::int64_t warps =
      std::max<std::int64_t>(std::int64_t{device.sm_count} * tuning.warps_per_sm / tuning.slices, 1);
  const std::int64_t share = cost / warps;
  const Lengths in_teams = lengths_in_teams(tuning);
  const bool teams = share < tuning.min_item_cost && mostly_longer(windows, in_teams.longest);
  const Lengths lengths = teams ? in_teams : lengths_alone(share, tuning);
  const std::int64_t team = teams ? tuning.team_warps : 1;
  Divider divider{windows, tuning, warps, cost, lengths.piece, lengths.longest, team};
  divider.divide();
  // Runs have the target length, except single windows of up to six pieces, which start first.
  const auto first_short = std::stable_partition(
      divider.runs.begin(), divider.runs.end(),
      [&](const TileItem& run) { return run.tile_end - run.tile_begin > tuning.max_item_cost; });
  std::stable_sort(divider.runs.begin(), first_short, [](const TileItem& a, const TileItem& b) {
    return a.tile_end - a.tile_begin > b.tile_end - b.tile_begin;
  });
  const auto pieces = std::ssize(divider.result.items);
  divider.result.items.insert(divider.result.items.end(), divider.runs.begin(), divider.runs.end());
  find_values(windows, divider.result, pieces, divider.team);
  return std::move(divider.result);
}

}  // namespace sptile::runtime::cuda
