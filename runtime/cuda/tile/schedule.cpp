#include "runtime/cuda/tile/schedule.hpp"

#include <algorithm>
#include <bit>

#include "formats/layout/bittcf.hpp"
#include "formats/layout/bmat.hpp"
#include "formats/layout/libra.hpp"
#include "formats/layout/me_tcf.hpp"
#include "formats/layout/rs_tile.hpp"
#include "runtime/cuda/device/schedule_parts.hpp"
#include "runtime/fork.hpp"

namespace sptile::runtime::cuda {
namespace {

using formats::FormatView;

constexpr std::int64_t kLeastFeatures = 16;  ///< of a warp: one segment of f64

struct Request {
  const FormatView& format;
  std::int64_t n;
  std::size_t element_bytes;
  std::span<const TileVariant> variants;
  const DeviceInfo& device;
  int height;
};

/// Divides the windows and writes everything that all layouts share.
Schedule schedule_windows(const Request& request, const TileWindows& windows) {
  Schedule schedule;
  TileTuning tuning;
  const int chosen = choose_variant(request.variants, request.n, cost_of(windows, tuning), request.device);
  const TileVariant variant = request.variants[static_cast<std::size_t>(chosen)];
  const auto slices = static_cast<int>((request.n + variant.features - 1) / variant.features);
  tuning.slices = slices;
  tuning.warps_per_sm = variant.warps_per_sm;
  const TileSchedule divided = divide_windows(windows, tuning, request.device);

  // A launch with operands that are not aligned has slices of fewer columns, but not of fewer than these.
  const std::int64_t most_slices = (request.n + kLeastFeatures - 1) / kLeastFeatures;
  const std::int64_t counters = (4 * divided.counters * most_slices + 255) / 256 * 256;
  const std::int64_t accumulator = request.element_bytes == 8 ? 8 : 4;
  const std::int64_t slot = std::int64_t{request.height} * slices * variant.features * accumulator;
  schedule.workspace_bytes = static_cast<std::size_t>(counters + divided.slots * slot);
  auto& numbers = schedule.numbers;
  numbers[kPartialsAt] = counters;
  numbers[kItemsAt] = append(schedule, divided.items);
  numbers[kItemCount] = std::ssize(divided.items);
  numbers[kSplitsAt] = append(schedule, divided.splits);
  numbers[kSplitCount] = std::ssize(divided.splits);
  numbers[kMasksAt] = numbers[kWindowRowAt] = numbers[kWindowTileAt] = -1;
  numbers[kVariant] = chosen;
  numbers[kWarpsPerBlock] = divided.teams > 0 ? tuning.team_warps : tuning.warps_per_block;
  numbers[kTeams] = divided.teams;
  numbers[kSlicesTogether] =
      slices_together(request.format.cols, slices,
                      static_cast<std::int64_t>(request.element_bytes) * variant.features, request.device);
  return schedule;
}

/// Windows whose first rows and first tiles are not those of the format.
struct JoinedWindows {
  std::vector<std::int32_t> row, tile;
};

void append_windows(Schedule& schedule, const JoinedWindows& windows) {
  schedule.numbers[kWindowRowAt] = append(schedule, windows.row);
  schedule.numbers[kWindowTileAt] = append(schedule, windows.tile);
}

/// Windows of rs_tile with the pieces of split windows joined again: the schedule makes pieces of its own.
JoinedWindows join_pieces(const formats::RsTileView& rs) {
  JoinedWindows joined;
  joined.row.reserve(rs.row_window_id.size());
  joined.tile.reserve(rs.row_window_id.size() + 1);
  for (std::size_t w = 0; w < rs.row_window_id.size(); ++w) {
    if (w > 0 && rs.row_window_id[w] == rs.row_window_id[w - 1]) continue;
    joined.row.push_back(rs.row_window_id[w]);
    joined.tile.push_back(rs.row_window_offset[w]);
  }
  joined.tile.push_back(rs.row_window_offset.back());
  return joined;
}

/// Windows of libra_spmm that have tiles.
JoinedWindows windows_with_tiles(const formats::LibraView& a) {
  JoinedWindows windows;
  for (std::size_t w = 0; w + 1 < a.row_window_offset.size(); ++w) {
    if (a.row_window_offset[w] == a.row_window_offset[w + 1]) continue;
    windows.row.push_back(static_cast<std::int32_t>(8 * w));
    windows.tile.push_back(a.row_window_offset[w]);
  }
  windows.tile.push_back(a.row_window_offset.back());
  return windows;
}

constexpr std::int64_t kShortEntries = 32;  ///< of one item
constexpr std::int64_t kShortRows = 32;     ///< of one item

/// Cuts the classes of residual rows in items.
void append_classes(std::vector<ShortRows>& items, std::span<const std::int32_t> class_offset) {
  std::int64_t entry = 0;
  for (std::size_t c = 1; c + 1 < class_offset.size(); ++c) {
    const auto length = static_cast<std::int64_t>(c);
    const std::int64_t most = std::max<std::int64_t>(kShortEntries / length, 1);
    for (std::int64_t row = class_offset[c]; row < class_offset[c + 1]; row += most) {
      const std::int64_t rows = std::min<std::int64_t>(most, class_offset[c + 1] - row);
      items.push_back({entry, static_cast<std::int32_t>(row), static_cast<std::int32_t>(rows),
                       static_cast<std::int32_t>(length)});
      entry += rows * length;
    }
  }
}

/// Lists the rows that neither a window nor the residual part has.
std::vector<std::int32_t> empty_rows(const formats::RsTileView& rs) {
  std::vector<bool> covered(static_cast<std::size_t>(rs.rows));
  for (const std::int32_t row : rs.residual_row_id) covered[static_cast<std::size_t>(row)] = true;
  for (const std::int32_t first : rs.row_window_id)
    for (std::int64_t row = first; row < std::min<std::int64_t>(rs.rows, std::int64_t{first} + 8); ++row)
      covered[static_cast<std::size_t>(row)] = true;
  std::vector<std::int32_t> rows;
  for (std::int64_t row = 0; row < rs.rows; ++row)
    if (!covered[static_cast<std::size_t>(row)]) rows.push_back(static_cast<std::int32_t>(row));
  return rows;
}

/// Where the values of a window start.
std::int64_t bittcf_first_value(const FormatView& format, std::int64_t tile) {
  return formats::as_bittcf(format).tc_offset[static_cast<std::size_t>(tile)];
}
std::int64_t libra_first_value(const FormatView& format, std::int64_t tile) {
  return formats::as_libra(format).tc_offset[static_cast<std::size_t>(tile)];
}
std::int64_t me_tcf_first_value(const FormatView& format, std::int64_t tile) {
  return formats::as_me_tcf(format).tc_offset[static_cast<std::size_t>(tile)];
}
/// For layouts that count the values of windows only: finds the window that starts with the tile. Windows
/// without tiles start where the next one does, and all of them have the same offset.
std::int64_t counted_first_value(std::span<const std::int32_t> window_offset,
                                 std::span<const std::int64_t> value_offset, std::int64_t tile) {
  const auto found = std::lower_bound(window_offset.begin(), window_offset.end(), tile);
  return value_offset[static_cast<std::size_t>(found - window_offset.begin())];
}
std::int64_t bmat_first_value(const FormatView& format, std::int64_t tile) {
  const formats::BmatView a = formats::as_bmat(format);
  return counted_first_value(a.row_window_offset, a.value_offset, tile);
}
std::int64_t rs_tile_first_value(const FormatView& format, std::int64_t tile) {
  const formats::RsTileView a = formats::as_rs_tile(format);
  return counted_first_value(a.row_window_offset, a.value_offset, tile);
}

/// How many values a tile has.
std::int64_t bittcf_values(const FormatView& format, std::int64_t tile) {
  return std::popcount(formats::as_bittcf(format).tc_local_bit[static_cast<std::size_t>(tile)]);
}
std::int64_t libra_values(const FormatView& format, std::int64_t tile) {
  return std::popcount(formats::as_libra(format).bitmap[static_cast<std::size_t>(tile)]);
}
std::int64_t me_tcf_values(const FormatView& format, std::int64_t tile) {
  return me_tcf_first_value(format, tile + 1) - me_tcf_first_value(format, tile);
}
std::int64_t bmat_values(const FormatView& format, std::int64_t tile) {
  std::int64_t count = 0;
  for (const std::uint32_t word :
       formats::as_bmat(format).bits.subspan(4 * static_cast<std::size_t>(tile), 4))
    count += std::popcount(word);
  return count;
}
std::int64_t rs_tile_values(const FormatView& format, std::int64_t tile) {
  return std::popcount(formats::as_rs_tile(format).bitmap[static_cast<std::size_t>(tile)]);
}

}  // namespace

int slices_together(std::int64_t cols, int slices, std::int64_t slice_bytes, const DeviceInfo& device) {
  const auto room = static_cast<std::int64_t>(static_cast<double>(device.l2_bytes) * 1.25);
  const std::int64_t fit = room / std::max<std::int64_t>(cols * slice_bytes, 1);
  if (fit < 1 || fit >= slices) return slices;
  return static_cast<int>(fit);
}

int choose_variant(std::span<const TileVariant> variants, std::int64_t n, std::int64_t cost,
                   const DeviceInfo& device) {
  int chosen = 0;
  for (std::size_t v = 1; v < variants.size(); ++v) {
    const TileVariant& variant = variants[v];
    const std::int64_t slices = (n + variant.features - 1) / variant.features;
    const std::int64_t padded = slices * variant.features;
    const std::int64_t warps = std::int64_t{device.sm_count} * variant.warps_per_sm;
    if (n % variant.elements == 0 && variant.features <= n && 4 * (padded - n) <= padded &&
        cost * slices >= variant.least_cost * warps)
      chosen = static_cast<int>(v);
  }
  return chosen;
}

std::int64_t append_masks(Schedule& schedule, const formats::MeTcfView& a) {
  const std::size_t tiles = a.tc_offset.size() - 1;
  const std::int64_t at = append_zeros(schedule, 16 * tiles);
  auto* const masks = reinterpret_cast<std::uint32_t*>(schedule.bytes.data() + at);
#pragma omp parallel for schedule(static) num_threads(most_threads())
  for (std::size_t t = 0; t < tiles; ++t)
    for (std::uint32_t i = a.tc_offset[t]; i < a.tc_offset[t + 1]; ++i) {
      const unsigned id = a.tc_local_id[i];
      masks[4 * t + id / 32] |= 1u << id % 32;
    }
  return at;
}

Schedule schedule_bittcf(const FormatView& format, std::int64_t n, std::size_t element_bytes,
                         std::span<const TileVariant> variants, const DeviceInfo& device) {
  const formats::BitTcfView a = formats::as_bittcf(format);
  return schedule_windows({format, n, element_bytes, variants, device, 8},
                          {a.row_window_offset, bittcf_first_value, bittcf_values, &format});
}

Schedule schedule_rs_tile(const FormatView& format, std::int64_t n, std::size_t element_bytes,
                          std::span<const TileVariant> variants, const DeviceInfo& device) {
  const formats::RsTileView rs = formats::as_rs_tile(format);
  const JoinedWindows joined = join_pieces(rs);
  Schedule schedule = schedule_windows({format, n, element_bytes, variants, device, 8},
                                       {joined.tile, rs_tile_first_value, rs_tile_values, &format});
  auto& numbers = schedule.numbers;
  if (joined.row.size() != rs.row_window_id.size()) append_windows(schedule, joined);
  std::vector<ShortRows> items;
  append_classes(items, rs.residual_class_offset);
  const std::vector<std::int32_t> empty = empty_rows(rs);
  for (std::int64_t row = 0; row < std::ssize(empty); row += kShortRows)
    items.push_back({0, static_cast<std::int32_t>(row),
                     static_cast<std::int32_t>(std::min<std::int64_t>(kShortRows, std::ssize(empty) - row)),
                     0});
  numbers[kShortAt] = append(schedule, items);
  numbers[kShortCount] = std::ssize(items);
  numbers[kEmptyRowsAt] = append(schedule, empty);
  return schedule;
}

Schedule schedule_libra_tiles(const FormatView& format, std::int64_t n, std::size_t element_bytes,
                              std::span<const TileVariant> variants, const DeviceInfo& device) {
  const formats::LibraView a = formats::as_libra(format);
  const Request request{format, n, element_bytes, variants, device, 8};
  if (a.residual_col_id.empty())
    return schedule_windows(request, {a.row_window_offset, libra_first_value, libra_values, &format});
  const JoinedWindows windows = windows_with_tiles(a);
  Schedule schedule = schedule_windows(request, {windows.tile, libra_first_value, libra_values, &format});
  append_windows(schedule, windows);
  return schedule;
}

Schedule schedule_me_tcf(const FormatView& format, std::int64_t n, std::size_t element_bytes,
                         std::span<const TileVariant> variants, const DeviceInfo& device) {
  const formats::MeTcfView a = formats::as_me_tcf(format);
  Schedule schedule = schedule_windows({format, n, element_bytes, variants, device, 16},
                                       {a.row_window_offset, me_tcf_first_value, me_tcf_values, &format});
  schedule.numbers[kMasksAt] = append_masks(schedule, a);
  return schedule;
}

Schedule schedule_bmat(const FormatView& format, std::int64_t n, std::size_t element_bytes,
                       std::span<const TileVariant> variants, const DeviceInfo& device) {
  const formats::BmatView a = formats::as_bmat(format);
  return schedule_windows({format, n, element_bytes, variants, device, 16},
                          {a.row_window_offset, bmat_first_value, bmat_values, &format});
}

}  // namespace sptile::runtime::cuda
