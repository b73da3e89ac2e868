#include "runtime/cuda/papers/libra_streams/schedule.hpp"

#include <algorithm>
#include <utility>

#include "formats/layout/libra_rules.hpp"

namespace sptile::runtime::cuda {
namespace {

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

/// Appends the residual segments with their ids and flags, and the list of short rows.
void append_rows(Schedule& schedule, const formats::LibraView& a, const LibraBalance& balance,
                 LibraStreamsHeader& header) {
  const std::vector<std::uint8_t> atomic(balance.atomic.begin() + std::ssize(balance.cur_window),
                                         balance.atomic.end());
  const std::vector<std::int32_t> ids = row_ids(a, balance);
  std::vector<ShortSegment> short_rows;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (balance.is_short[i] != 0)
      short_rows.push_back({balance.row_offset[i], ids[i],
                            static_cast<std::uint16_t>(balance.row_offset[i + 1] - balance.row_offset[i]),
                            atomic[i]});
  header.parts.rows.ids_at = append(schedule, ids);
  header.parts.rows.entries_at = append(schedule, balance.row_offset);
  header.row_atomic_at = append(schedule, atomic);
  header.short_at = append(schedule, short_rows);
  header.short_count = std::ssize(short_rows);
}

/// Returns runs of consecutive long segments for the csr kernel: up to `target` entries, counting kRowCost
/// per segment, or one longer segment.
std::vector<CsrRun> long_runs(const LibraBalance& balance, std::int64_t target) {
  std::vector<CsrRun> runs;
  std::size_t begin = 0;
  const auto close = [&](std::size_t end) {
    const std::int64_t entry = balance.row_offset[begin], entries = balance.row_offset[end] - entry;
    if (end > begin)
      runs.push_back({entry, static_cast<std::int32_t>(begin),
                      static_cast<std::uint32_t>(entries << 8 | static_cast<std::int64_t>(end - begin))});
    begin = end;
  };
  const std::size_t count = balance.cur_row.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto rows = static_cast<std::int64_t>(i - begin);
    const std::int64_t cost = balance.row_offset[i + 1] - balance.row_offset[begin] + kRowCost * rows;
    if (balance.is_short[i] != 0 || rows == kMaxRunRows || (rows > 0 && cost > target)) close(i);
    if (balance.is_short[i] != 0) begin = i + 1;
  }
  close(count);
  return runs;
}

CsrHeader append_long_rows(Schedule& schedule, const LibraBalance& balance) {
  constexpr std::int64_t kRunEntries = 48;  // one and a half segments of a split row
  const std::vector<CsrRun> runs = long_runs(balance, kRunEntries);
  CsrHeader header;
  header.runs_at = append(schedule, runs);
  header.runs = std::ssize(runs);
  return header;
}

}  // namespace

DeviceBalance cut_segments(const ScheduleRequest& request, const LibraSizes& sizes, int block_tiles,
                           CutOnDevice on_device) {
  if (on_device != nullptr && request.on_device != nullptr)
    if (auto cut = on_device(formats::as_libra(*request.on_device), sizes, block_tiles))
      return std::move(*cut);
  return {cut_windows(formats::as_libra(request.format), sizes, block_tiles), {}};
}

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
  DeviceBalance cut =
      cut_segments(request, policy.sizes, formats::libra_block_columns(kernels.dense) / 8, kernels.cut);
  LibraBalance& balance = cut.balance;
  const TileTuning tuning;
  const std::int64_t segments = std::ssize(balance.cur_window);
  const int chosen = choose_variant(kernels.variants, request.n,
                                    balance.window_offset.back() + tuning.window_cost * segments, device);
  const TileVariant& variant = kernels.variants[static_cast<std::size_t>(chosen)];
  const std::int64_t slices = (request.n + variant.features - 1) / variant.features;

  Schedule schedule;
  LibraStreamsHeader header;
  CsrHeader& rows = header.parts.rows.csr;
  rows = append_long_rows(schedule, balance);
  const CsrGeometry geometry = csr_geometry(request.n, csr_vector(kernels.dense));
  const LibraGrid tile_grid{(segments * slices + tuning.warps_per_block - 1) / tuning.warps_per_block,
                            kernels.tile_blocks_per_sm(chosen, 32 * tuning.warps_per_block)};
  const auto grid_of = [&](std::int64_t items, int threads, int per_sm) {
    const std::int64_t groups = threads / geometry.lanes;
    return LibraGrid{(items + groups - 1) / groups * geometry.slices, per_sm};
  };
  const LibraGrid long_grid =
      grid_of(rows.items(), kernels.row_threads, kernels.row_blocks_per_sm(geometry.lanes));
  const LibraGrid short_grid = grid_of(std::ranges::count(balance.is_short, 1), kernels.short_threads,
                                       kernels.short_blocks_per_sm(geometry.lanes));
  header.ratios = {tile_grid.ratio(device.sm_count),
                   long_grid.ratio(device.sm_count) + short_grid.ratio(device.sm_count)};
  const LibraOccupancy thresholds = policy.fitted ? libra_occupancy(request) : LibraOccupancy{};
  const LibraMode mode = policy.mode ? *policy.mode : choose_mode(header.ratios, thresholds);
  if (cut.flags.empty())
    flag_atomic(balance, std::ssize(a.row_window_offset) - 1, mode);
  else
    cut.set_mode(mode);
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
