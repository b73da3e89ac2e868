#include "runtime/cuda/tile/schedule.hpp"

#include <algorithm>
#include <utility>

#include "formats/layout/blocks.hpp"
#include "runtime/fork.hpp"

namespace sptile::runtime::cuda {
namespace {

using formats::Blocks;

constexpr std::int64_t kLeastFeatures = 16;  ///< of a warp: one segment of f64

/// Windows that are multiplied, where they are not those of the format: first rows, and first tiles with the
/// end.
struct OwnWindows {
  std::vector<std::int32_t> row, tile;

  [[nodiscard]] bool empty() const { return tile.empty(); }
};

/// Where another kernel has rows, it writes those of windows without tiles, too.
bool has_own_rows(const Blocks& blocks) {
  return !blocks.rows.offset.empty() && !blocks.rows.columns.empty();
}

/// None where all windows of the format stay as they are.
OwnWindows own_windows(const Blocks& blocks) {
  const bool only_with_tiles = has_own_rows(blocks);
  OwnWindows own;
  if (!only_with_tiles && blocks.first_row.empty()) return own;
  for (std::int64_t w = 0; w < blocks.windows(); ++w) {
    const auto tile = blocks.tile_offset[static_cast<std::size_t>(w)];
    if (blocks.continues(w)) continue;
    if (only_with_tiles && tile == blocks.tile_offset[static_cast<std::size_t>(w) + 1]) continue;
    own.row.push_back(static_cast<std::int32_t>(blocks.row_of(w)));
    own.tile.push_back(tile);
  }
  if (std::ssize(own.row) == blocks.windows()) return {};
  own.tile.push_back(blocks.tile_offset.back());
  return own;
}

/// Divides the windows and writes everything that all layouts share.
TileHeader divide(Schedule& schedule, const TileRequest& request, const TileWindows& windows) {
  TileTuning tuning;
  const int chosen = choose_variant(request.variants, request.n, cost_of(windows, tuning), request.device);
  const TileVariant variant = request.variants[static_cast<std::size_t>(chosen)];
  const auto slices = static_cast<int>((request.n + variant.features - 1) / variant.features);
  tuning.slices = slices;
  tuning.warps_per_sm = variant.warps_per_sm;
  const TileSchedule divided = divide_windows(windows, tuning, request.device);

  // A launch with operands that are not aligned has slices of fewer columns, but not of fewer than these.
  const std::int64_t most_slices = (request.n + kLeastFeatures - 1) / kLeastFeatures;
  const std::int64_t accumulator = request.element_bytes == 8 ? 8 : 4;
  const std::int64_t slot =
      std::int64_t{windows.blocks.window_rows} * slices * variant.features * accumulator;
  TileHeader header;
  header.scratch = append_scratch(schedule, divided.counters * most_slices, divided.slots * slot);
  header.items_at = append(schedule, divided.items);
  header.item_count = std::ssize(divided.items);
  header.splits_at = append(schedule, divided.splits);
  header.split_count = std::ssize(divided.splits);
  header.variant = chosen;
  header.warps_per_block = divided.teams > 0 ? tuning.team_warps : tuning.warps_per_block;
  header.teams = divided.teams;
  header.slices_together =
      slices_together(request.format.cols, slices,
                      static_cast<std::int64_t>(request.element_bytes) * variant.features, request.device);
  return header;
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

/// Lists the rows that neither a window nor a class has.
std::vector<std::int32_t> empty_rows(const Blocks& blocks, std::int64_t rows) {
  std::vector<bool> covered(static_cast<std::size_t>(rows));
  for (const std::int32_t row : blocks.rows.ids) covered[static_cast<std::size_t>(row)] = true;
  for (std::int64_t w = 0; w < blocks.windows(); ++w)
    for (std::int64_t row = blocks.row_of(w), end = std::min(rows, row + blocks.window_rows); row < end;
         ++row)
      covered[static_cast<std::size_t>(row)] = true;
  std::vector<std::int32_t> list;
  for (std::int64_t row = 0; row < rows; ++row)
    if (!covered[static_cast<std::size_t>(row)]) list.push_back(static_cast<std::int32_t>(row));
  return list;
}

/// Appends rows in classes, and the rows of none.
void append_short_rows(Schedule& schedule, const Blocks& blocks, std::int64_t rows, TileHeader& header) {
  std::vector<ShortRows> items;
  append_classes(items, blocks.rows.class_offset);
  const std::vector<std::int32_t> empty = empty_rows(blocks, rows);
  for (std::int64_t row = 0; row < std::ssize(empty); row += kShortRows)
    items.push_back({0, static_cast<std::int32_t>(row),
                     static_cast<std::int32_t>(std::min<std::int64_t>(kShortRows, std::ssize(empty) - row)),
                     0});
  header.short_at = append(schedule, items);
  header.short_count = std::ssize(items);
  header.empty_rows_at = append(schedule, empty);
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

TileHeader append_tiles(Schedule& schedule, const TileRequest& request) {
  const Blocks blocks = formats::blocks_of(request.format);
  const OwnWindows own = own_windows(blocks);
  TileHeader header =
      divide(schedule, request,
             {own.empty() ? blocks.tile_offset : std::span<const std::int32_t>(own.tile), blocks});
  if (!own.empty()) {
    header.window_row_at = append(schedule, own.row);
    header.window_tile_at = append(schedule, own.tile);
  }
  if (!blocks.has_masks()) header.masks_at = append_masks(schedule, formats::as_me_tcf(request.format));
  if (!blocks.rows.class_offset.empty()) append_short_rows(schedule, blocks, request.format.rows, header);
  return header;
}

}  // namespace sptile::runtime::cuda
