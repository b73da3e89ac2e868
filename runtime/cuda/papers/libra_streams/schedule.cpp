#include "runtime/cuda/papers/libra_streams/schedule.hpp"

#include <algorithm>

namespace sptile::runtime::cuda {
namespace {

struct Grid {
  std::int64_t blocks = 0;
  int per_sm = 1;

  /// Returns the occupancy ratio (equation 7).
  [[nodiscard]] double ratio(const DeviceInfo& device) const {
    return static_cast<double>(blocks) / (std::max(device.sm_count, 1) * std::max(per_sm, 1));
  }
};

/// Returns an item per segment. Segments without atomic additions are complete windows.
std::vector<TileItem> tile_items(const formats::LibraView& a, const LibraBalance& balance) {
  std::vector<TileItem> items;
  for (std::size_t i = 0; i < balance.cur_window.size(); ++i) {
    const std::int32_t begin = balance.window_offset[i], window = balance.cur_window[i];
    items.push_back({a.tc_offset[static_cast<std::size_t>(begin)], begin, balance.window_offset[i + 1],
                     window, window + 1, balance.atomic[i] != 0 ? kAddedSlot : -1});
  }
  return items;
}

/// Returns the row ids of segments of the residual part. In a window with tiles they are added to the tiles'
/// sums.
std::vector<std::int32_t> row_ids(const formats::LibraView& a, const LibraBalance& balance) {
  std::vector<std::int32_t> ids;
  for (const std::int32_t row : balance.cur_row) {
    const auto window = static_cast<std::size_t>(row / 8);
    ids.push_back(a.row_window_offset[window] < a.row_window_offset[window + 1] ? ~row : row);
  }
  return ids;
}

TileHeader append_items(Schedule& schedule, const formats::LibraView& a, const LibraBalance& balance) {
  const std::vector<TileItem> items = tile_items(a, balance);
  TileHeader header;
  header.items_at = append(schedule, items);
  header.item_count = std::ssize(items);
  return header;
}

void append_rows(Schedule& schedule, const formats::LibraView& a, const LibraBalance& balance,
                 LibraStreamsHeader& header) {
  const std::vector<std::uint8_t> atomic(balance.atomic.begin() + std::ssize(balance.cur_window),
                                         balance.atomic.end());
  header.parts.rows.ids_at = append(schedule, row_ids(a, balance));
  header.parts.rows.entries_at = append(schedule, balance.row_offset);
  header.row_atomic_at = append(schedule, atomic);
}

}  // namespace

LibraOccupancy libra_occupancy(const ScheduleRequest& request) {
  const LibraOccupancy paper;
  const auto read = [&](std::string_view name, double of_paper) {
    const double known = request.cost(name).value_or(0);
    return known > 0 ? known : of_paper;
  };
  return {read(kLibraOccupancyCosts[0], paper.tiles), read(kLibraOccupancyCosts[1], paper.rows)};
}

Schedule schedule_libra_streams(const ScheduleRequest& request, const LibraPolicy& policy,
                                const LibraKernels& kernels) {
  const formats::LibraView a = formats::as_libra(request.format);
  const DeviceInfo& device = request.device;
  LibraBalance balance = cut_windows(a, policy.sizes);
  const TileTuning tuning;
  const std::int64_t segments = std::ssize(balance.cur_window);
  const int chosen = choose_variant(kernels.variants, request.n,
                                    balance.window_offset.back() + tuning.window_cost * segments, device);
  const TileVariant& variant = kernels.variants[static_cast<std::size_t>(chosen)];
  const std::int64_t slices = (request.n + variant.features - 1) / variant.features;

  Schedule schedule;
  LibraStreamsHeader header;
  CsrHeader& rows = header.parts.rows.csr;
  rows =
      append_csr(schedule, {.row_ptr = balance.row_offset, .cut = false}, kernels.dense, request.n, device);
  const CsrGeometry geometry = csr_geometry(request.n, csr_vector(kernels.dense));
  const std::int64_t groups = kernels.row_threads / geometry.lanes;
  const Grid tile_grid{(segments * slices + tuning.warps_per_block - 1) / tuning.warps_per_block,
                       kernels.tile_blocks_per_sm(chosen, 32 * tuning.warps_per_block)};
  const Grid row_grid{(rows.items() + groups - 1) / groups * geometry.slices,
                      kernels.row_blocks_per_sm(geometry.lanes)};
  header.ratios = {tile_grid.ratio(device), row_grid.ratio(device)};
  const LibraOccupancy thresholds = policy.fitted ? libra_occupancy(request) : LibraOccupancy{};
  const LibraMode mode = policy.mode ? *policy.mode : choose_mode(header.ratios, thresholds);
  flag_atomic(balance, std::ssize(a.row_window_offset) - 1, mode);
  header.two_streams = mode == LibraMode::two_streams && segments > 0 && !balance.cur_row.empty();

  const std::vector<std::int32_t> scaled = rows_to_scale(balance, a.rows);
  header.scaled_rows_at = append(schedule, scaled);
  header.scaled_rows = std::ssize(scaled);
  header.parts.tiles = append_items(schedule, a, balance);
  header.parts.tiles.variant = chosen;
  header.parts.tiles.warps_per_block = tuning.warps_per_block;
  header.parts.tiles.slices_together =
      slices_together(a.cols, static_cast<int>(slices),
                      static_cast<std::int64_t>(size_of(kernels.dense)) * variant.features, device);
  append_rows(schedule, a, balance, header);
  schedule.header.set(header);
  return schedule;
}

}  // namespace sptile::runtime::cuda
