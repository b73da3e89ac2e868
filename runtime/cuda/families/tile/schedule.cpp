#include "runtime/cuda/families/tile/schedule.hpp"

#include <algorithm>
#include <limits>

#include "formats/layout/blocks.hpp"

namespace sptile::runtime::cuda {
namespace {

using formats::Blocks;

constexpr std::int64_t kLeastFeatures = 16;  ///< minimum per warp: one segment of f64

/// Windows to multiply if they differ from those of the format: first rows, and first tiles with the end.
struct OwnWindows {
  std::vector<std::int32_t> row, tile;

  [[nodiscard]] bool empty() const { return tile.empty(); }
};

/// Returns whether another kernel has rows; it then also writes those of windows without tiles.
bool has_own_rows(const Blocks& blocks) {
  return !blocks.rows.offset.empty() && !blocks.rows.columns.empty();
}

/// Returns the windows to multiply; empty if all windows of the format are unchanged.
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

/// Parameters that are chosen before the windows are divided.
struct Framing {
  TileTuning tuning;
  int variant = 0;
  std::int64_t features = 0, slices = 0;  ///< features per warp of the variant
};

Framing frame(const TileRequest& request, const TileWindows& windows) {
  Framing framing;
  framing.variant = choose_variant(request.variants, request.n,
                                   cost_of(windows, framing.tuning) + request.other_cost, request.device);
  const TileVariant& variant = request.variants[static_cast<std::size_t>(framing.variant)];
  framing.features = variant.features;
  framing.slices = (request.n + variant.features - 1) / variant.features;
  framing.tuning.slices = static_cast<int>(framing.slices);
  framing.tuning.warps_per_sm = variant.warps_per_sm;
  return framing;
}

/// Returns the header for a division, without the offsets of the parts.
TileHeader header_of(const TileRequest& request, const Framing& framing, std::int32_t teams) {
  TileHeader header;
  header.variant = framing.variant;
  header.warps_per_block = teams > 0 ? framing.tuning.team_warps : framing.tuning.warps_per_block;
  header.teams = teams;
  header.slices_together =
      slices_together(request.format.cols, framing.tuning.slices,
                      static_cast<std::int64_t>(request.element_bytes) * framing.features, request.device);
  return header;
}

/// Counters per piece counter, and bytes of the sums in a slot.
struct ScratchSizes {
  std::int64_t slices, slot;
};

ScratchSizes scratch_sizes(const TileRequest& request, const TileWindows& windows, const Framing& framing) {
  // A launch with operands that are not aligned has slices of fewer columns, but at least this number.
  const std::int64_t most_slices = (request.n + kLeastFeatures - 1) / kLeastFeatures;
  const std::int64_t accumulator = request.element_bytes == 8 ? 8 : 4;
  return {most_slices,
          std::int64_t{windows.blocks.window_rows} * framing.slices * framing.features * accumulator};
}

/// Divides the windows and writes everything that all layouts share.
TileHeader divide(Schedule& schedule, const TileRequest& request, const TileWindows& windows) {
  const Framing framing = frame(request, windows);
  const TileSchedule divided = request.divide(windows, framing.tuning, request.device);
  const ScratchSizes sizes = scratch_sizes(request, windows, framing);
  TileHeader header = header_of(request, framing, divided.teams);
  header.scratch = append_scratch(schedule, divided.counters * sizes.slices, divided.slots * sizes.slot);
  reserve(schedule, divided.items, divided.splits);
  header.items_at = append(schedule, divided.items);
  header.item_count = std::ssize(divided.items);
  header.splits_at = append(schedule, divided.splits);
  header.split_count = std::ssize(divided.splits);
  return header;
}

/// Restores the result of `divide`.
TileHeader read_division(ScheduleReader& reader, Schedule& schedule, const TileRequest& request,
                         const TileWindows& windows) {
  const Framing framing = frame(request, windows);
  const std::int64_t items = reader.number(std::numeric_limits<std::int32_t>::max());
  const std::int64_t splits = reader.number(items);
  const std::int64_t teamed = reader.number(std::min<std::int64_t>(splits, 1));
  TileHeader places;
  const auto item = reader.part<TileItem>(items, places.items_at);
  const auto split = reader.part<SplitWindow>(splits, places.splits_at);
  const DivisionTotals totals =
      check_division(reader, windows, item, split, teamed == 1 ? framing.tuning.team_warps : 1);
  TileHeader header = header_of(request, framing, teamed == 1 ? totals.slots : 0);
  header.items_at = places.items_at;
  header.item_count = items;
  header.splits_at = places.splits_at;
  header.split_count = splits;
  const ScratchSizes sizes = scratch_sizes(request, windows, framing);
  header.scratch =
      read_scratch(reader, schedule, {totals.counters, sizes.slices}, {totals.slots, sizes.slot});
  return header;
}

constexpr std::int64_t kShortEntries = 32;  ///< per item
constexpr std::int64_t kShortRows = 32;     ///< per item

/// Divides the classes of residual rows into items.
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

/// Returns the rows that are in neither a window nor a class.
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

/// Rows in classes, and empty rows.
struct RowItems {
  std::vector<ShortRows> items;
  std::vector<std::int32_t> empty;
};

RowItems row_items(const Blocks& blocks, std::int64_t rows) {
  RowItems made{{}, empty_rows(blocks, rows)};
  append_classes(made.items, blocks.rows.class_offset);
  for (std::int64_t row = 0; row < std::ssize(made.empty); row += kShortRows)
    made.items.push_back(
        {0, static_cast<std::int32_t>(row),
         static_cast<std::int32_t>(std::min<std::int64_t>(kShortRows, std::ssize(made.empty) - row)), 0});
  return made;
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

std::int64_t tile_least_n(std::span<const TileVariant> variants, int chosen, std::int64_t n) {
  const std::int64_t features = variants[static_cast<std::size_t>(chosen)].features;
  const std::int64_t slices = (n + features - 1) / features;
  const std::int64_t same_slices = (slices - 1) * features + 1;
  if (chosen == 0) return same_slices;  // the fallback if too many features would be idle
  return std::max({same_slices, features, (3 * slices * features + 3) / 4});
}

namespace {

/// Returns the windows to multiply.
TileWindows windows_of(const Blocks& blocks, const OwnWindows& own) {
  return {own.empty() ? blocks.tile_offset : std::span<const std::int32_t>(own.tile), blocks};
}

}  // namespace

TileHeader append_tiles(Schedule& schedule, const TileRequest& request) {
  const Blocks blocks = formats::blocks_of(request.format);
  const OwnWindows own = own_windows(blocks);
  TileHeader header = divide(schedule, request, windows_of(blocks, own));
  if (!own.empty()) {
    header.window_row_at = append(schedule, own.row);
    header.window_tile_at = append(schedule, own.tile);
  }
  if (!blocks.has_masks() && request.makes_masks)
    header.masks_at = append_masks(schedule, formats::as_me_tcf(request.format));
  if (blocks.rows.class_offset.empty()) return header;
  const RowItems rows = row_items(blocks, request.format.rows);
  header.short_at = append(schedule, rows.items);
  header.short_count = std::ssize(rows.items);
  header.empty_rows_at = append(schedule, rows.empty);
  return header;
}

std::vector<std::int64_t> tile_numbers(const TileHeader& header) {
  return {header.item_count, header.split_count, header.teams > 0 ? 1 : 0};
}

TileHeader read_tiles(ScheduleReader& reader, Schedule& schedule, const TileRequest& request) {
  const Blocks blocks = formats::blocks_of(request.format);
  const OwnWindows own = own_windows(blocks);
  TileHeader header = read_division(reader, schedule, request, windows_of(blocks, own));
  if (!own.empty()) {
    reader.expect(own.row, header.window_row_at, "the windows do not match the matrix");
    reader.expect(own.tile, header.window_tile_at, "the windows do not match the matrix");
  }
  if (!blocks.has_masks() && request.makes_masks)
    header.masks_at = read_masks(reader, formats::as_me_tcf(request.format));
  if (blocks.rows.class_offset.empty()) return header;
  const RowItems rows = row_items(blocks, request.format.rows);
  reader.expect(rows.items, header.short_at, "the short rows do not match the matrix");
  header.short_count = std::ssize(rows.items);
  reader.expect(rows.empty, header.empty_rows_at, "the empty rows do not match the matrix");
  return header;
}

}  // namespace sptile::runtime::cuda
