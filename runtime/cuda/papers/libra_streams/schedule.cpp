#include "runtime/cuda/papers/libra_streams/schedule.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/choice/profiles.hpp"
#include "runtime/cuda/csr/schedule.hpp"
#include "runtime/cuda/tile/libra_schedule.hpp"
#include "runtime/cuda/device/schedule_parts.hpp"

namespace sptile::runtime::cuda {
namespace {

struct Grid {
  std::int64_t blocks = 0;
  int per_sm = 1;

  /// Equation 7.
  [[nodiscard]] double ratio(const DeviceInfo& device) const {
    return static_cast<double>(blocks) / (std::max(device.sm_count, 1) * std::max(per_sm, 1));
  }
};

/// An item for each segment. Those that are not atomic are whole windows.
std::vector<TileItem> tile_items(const formats::LibraView& a, const LibraBalance& balance) {
  std::vector<TileItem> items;
  for (std::size_t i = 0; i < balance.cur_window.size(); ++i) {
    const std::int32_t begin = balance.window_offset[i], window = balance.cur_window[i];
    items.push_back({a.tc_offset[static_cast<std::size_t>(begin)], begin, balance.window_offset[i + 1],
                     window, window + 1, balance.atomic[i] != 0 ? kAddedSlot : -1});
  }
  return items;
}

/// Segments are the rows of the residual part. In a window with tiles they add to what the tiles' sums are.
std::vector<std::int32_t> row_ids(const formats::LibraView& a, const LibraBalance& balance) {
  std::vector<std::int32_t> ids;
  for (const std::int32_t row : balance.cur_row) {
    const auto window = static_cast<std::size_t>(row / 8);
    ids.push_back(a.row_window_offset[window] < a.row_window_offset[window + 1] ? ~row : row);
  }
  return ids;
}

void add_tiles(Schedule& schedule, const formats::LibraView& a, const LibraBalance& balance) {
  auto& numbers = schedule.numbers;
  const std::vector<TileItem> items = tile_items(a, balance);
  numbers[kItemsAt] = append(schedule, items);
  numbers[kItemCount] = std::ssize(items);
  numbers[kMasksAt] = numbers[kWindowRowAt] = numbers[kWindowTileAt] = -1;
}

void add_rows(Schedule& schedule, const formats::LibraView& a, const LibraBalance& balance) {
  const std::vector<std::uint8_t> atomic(balance.atomic.begin() + std::ssize(balance.cur_window),
                                         balance.atomic.end());
  schedule.numbers[kRowIdsAt] = append(schedule, row_ids(a, balance));
  schedule.numbers[kRowEntriesAt] = append(schedule, balance.row_offset);
  schedule.numbers[kRowAtomicAt] = append(schedule, atomic);
}

}  // namespace

LibraRatios ratios_of(const Schedule& schedule) {
  return {static_cast<double>(schedule.numbers[kTilesRatio]) / kRatioUnit,
          static_cast<double>(schedule.numbers[kRowsRatio]) / kRatioUnit};
}

LibraOccupancy libra_occupancy(const DeviceInfo& device) {
  LibraOccupancy thresholds;
  const auto profile = find_profile(profile_device(Device::cuda, device));
  if (!profile || !*profile) return thresholds;
  const auto read = [&](double& threshold, std::string_view name) {
    const std::optional<double> number = (*profile)->find("cuda.libra_spmm.streams", "any", name);
    if (number && *number > 0) threshold = *number;
  };
  read(thresholds.tiles, "occupancy_tiles");
  read(thresholds.rows, "occupancy_rows");
  return thresholds;
}

Schedule schedule_libra_streams(const formats::LibraView& a, std::int64_t n, const LibraPolicy& policy,
                                const LibraKernels& kernels, const DeviceInfo& device) {
  LibraBalance balance = cut_windows(a, policy.sizes);
  const TileTuning tuning;
  const std::int64_t segments = std::ssize(balance.cur_window);
  const int chosen = choose_variant(kernels.variants, n,
                                    balance.window_offset.back() + tuning.window_cost * segments, device);
  const TileVariant& variant = kernels.variants[static_cast<std::size_t>(chosen)];
  const std::int64_t slices = (n + variant.features - 1) / variant.features;

  Schedule tiles;
  tiles.numbers[kVariant] = chosen;
  tiles.numbers[kWarpsPerBlock] = tuning.warps_per_block;
  tiles.numbers[kSlicesTogether] =
      slices_together(a.cols, static_cast<int>(slices), std::int64_t{4} * variant.features, device);
  Schedule rows = csr_schedule({.row_ptr = balance.row_offset, .cut = false}, DType::f32, n, device);

  const int lanes = static_cast<int>(rows.numbers[kGridLanes]);
  const std::int64_t groups = kernels.row_threads / lanes;
  const Grid tile_grid{(segments * slices + tuning.warps_per_block - 1) / tuning.warps_per_block,
                       kernels.tile_blocks_per_sm(chosen, 32 * tuning.warps_per_block)};
  const Grid row_grid{
      (rows.numbers[kRuns] + rows.numbers[kPieces] + groups - 1) / groups * rows.numbers[kGridSlices],
      kernels.row_blocks_per_sm(lanes)};
  const LibraRatios ratios = {tile_grid.ratio(device), row_grid.ratio(device)};
  const LibraMode mode = policy.mode ? *policy.mode : choose_mode(ratios, libra_occupancy(device));
  flag_atomic(balance, std::ssize(a.row_window_offset) - 1, mode);

  Schedule whole;
  const std::vector<std::int32_t> scaled = rows_to_scale(balance, a.rows);
  whole.numbers[kScaledRowsAt] = append(whole, scaled);
  whole.numbers[kScaledRows] = std::ssize(scaled);
  whole.numbers[kTilesRatio] = std::llround(ratios.tiles * kRatioUnit);
  whole.numbers[kRowsRatio] = std::llround(ratios.rows * kRatioUnit);
  whole.two_streams = mode == LibraMode::two_streams && segments > 0 && !balance.cur_row.empty();
  add_tiles(tiles, a, balance);
  add_rows(rows, a, balance);
  append_schedule(whole, std::move(tiles));
  append_schedule(whole, std::move(rows));
  return whole;
}

}  // namespace sptile::runtime::cuda
