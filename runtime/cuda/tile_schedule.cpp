#include "runtime/cuda/tile_schedule.hpp"

#include <algorithm>

namespace sptile::runtime::cuda {
namespace {

struct Divider {
  const TileWindows& windows;
  const TileTuning& tuning;
  std::int64_t warps;      ///< of the device, for each slice
  std::int64_t remaining;  ///< cost of the windows from the current one on
  std::int64_t piece;      ///< tiles of a piece of a long window
  TileSchedule result = {};
  std::vector<TileItem> runs = {};

  std::int32_t first_tile(std::int64_t window) const {
    return windows.tile_offset[static_cast<std::size_t>(window)];
  }
  std::int64_t tiles(std::int64_t window) const { return first_tile(window + 1) - first_tile(window); }

  void add_run(std::int64_t begin, std::int64_t end) {
    if (begin == end) return;
    runs.push_back({windows.first_value(*windows.format, first_tile(begin)), first_tile(begin),
                    first_tile(end), static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end), -1});
  }

  void add_pieces(std::int64_t window) {
    const auto count = static_cast<std::int32_t>((tiles(window) + piece - 1) / piece);
    const auto split = static_cast<std::int32_t>(result.splits.size());
    result.splits.push_back({result.slots, count, result.counters});
    for (std::int32_t pieces = count; pieces > 1; pieces = sum_groups(pieces))
      result.counters += sum_groups(pieces);
    std::int64_t value = windows.first_value(*windows.format, first_tile(window));
    for (std::int32_t p = 0; p < count; ++p) {
      const auto begin = static_cast<std::int32_t>(first_tile(window) + tiles(window) * p / count);
      const auto end = static_cast<std::int32_t>(first_tile(window) + tiles(window) * (p + 1) / count);
      result.items.push_back({value, begin, end, static_cast<std::int32_t>(window),
                              static_cast<std::int32_t>(window + 1), result.slots++, split});
      for (std::int64_t t = begin; t < end; ++t) value += windows.tile_values(*windows.format, t);
    }
  }

  /// Cost of the next run: at the end ever less, so that all warps end at about the same time.
  std::int64_t target() const {
    return std::clamp<std::int64_t>(remaining / (2 * warps), tuning.min_item_cost, tuning.max_item_cost);
  }

  void divide() {
    const std::int64_t count = std::ssize(windows.tile_offset) - 1;
    std::int64_t begin = 0, cost = 0;
    for (std::int64_t w = 0; w < count; ++w) {
      const std::int64_t next = tiles(w) + tuning.window_cost;
      if (tiles(w) > tuning.split_factor * piece) {
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

}  // namespace

TileSchedule divide_windows(const TileWindows& windows, const TileTuning& tuning, const DeviceInfo& device) {
  const std::int64_t count = std::ssize(windows.tile_offset) - 1;
  const std::int64_t cost = windows.tile_offset.back() + tuning.window_cost * count;
  const std::int64_t warps =
      std::max<std::int64_t>(std::int64_t{device.sm_count} * tuning.warps_per_sm / tuning.slices, 1);
  Divider divider{
      windows, tuning, warps, cost,
      std::clamp<std::int64_t>(cost / (warps * tuning.rounds), tuning.min_item_cost, tuning.max_item_cost)};
  divider.divide();
  // Runs are no longer than they should be, except one window of up to split_factor pieces: those start
  // first.
  const auto is_short = [&](const TileItem& item) {
    return item.tile_end - item.tile_begin <= tuning.max_item_cost;
  };
  std::stable_sort(divider.runs.begin(), divider.runs.end(), [&](const TileItem& a, const TileItem& b) {
    if (is_short(a) || is_short(b)) return !is_short(a) && is_short(b);
    return a.tile_end - a.tile_begin > b.tile_end - b.tile_begin;
  });
  divider.result.items.insert(divider.result.items.end(), divider.runs.begin(), divider.runs.end());
  return std::move(divider.result);
}

}  // namespace sptile::runtime::cuda
