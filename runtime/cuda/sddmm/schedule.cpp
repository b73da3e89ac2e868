#include "runtime/cuda/sddmm/schedule.hpp"

#include <algorithm>
#include <vector>

#include "formats/layout/blocks.hpp"
#include "runtime/cuda/tile/schedule.hpp"

namespace sptile::runtime::cuda {
namespace {

using formats::Blocks;

constexpr std::int64_t kWarpsPerSm = 32;  ///< that the work should be enough for
constexpr std::int64_t kMostTiles = 16;   ///< of an item
constexpr std::int64_t kMostRounds = 4;   ///< of a run
/// Mean length of rows for each round of a run: where rows are short, so are runs, so that neighbours run
/// together and share rows of Y in caches.
constexpr std::int64_t kRoundRowLength = 4;
constexpr std::int64_t kRoundEntries = 32;  ///< of one round: a lane of the warp for each

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Appends the items of all windows. O(windows + tiles of those that are cut).
void append_items(Schedule& schedule, const Blocks& blocks, const DeviceInfo& device, SddmmHeader& header) {
  const std::int64_t windows = blocks.windows(), tiles = blocks.tile_offset.back();
  const auto offset = blocks.tile_offset;
  const std::int64_t share = tiles / (device.sm_count * kWarpsPerSm);
  const std::int64_t most = std::clamp<std::int64_t>(share / 2 * 2, 2, kMostTiles);
  std::vector<std::int64_t> first_item(at(windows + 1));
  for (std::int64_t w = 0; w < windows; ++w)
    first_item[at(w + 1)] = first_item[at(w)] + (offset[at(w + 1)] - offset[at(w)] + most - 1) / most;
  header.item_count = first_item.back();
  header.items_at = append_zeros(schedule, at(header.item_count) * sizeof(SddmmItem));
  auto* const items = reinterpret_cast<SddmmItem*>(schedule.bytes.data() + header.items_at);
#pragma omp parallel for schedule(static)
  for (std::int64_t w = 0; w < windows; ++w) {
    const std::int32_t end = offset[at(w + 1)];
    SddmmItem* item = items + first_item[at(w)];
    std::int64_t value = blocks.first_value(w);
    for (std::int32_t tile = offset[at(w)]; tile < end; ++item) {
      const auto next = static_cast<std::int32_t>(std::min<std::int64_t>(tile + most, end));
      *item = {value, tile, next, static_cast<std::int32_t>(blocks.row_of(w))};
      if (next < end)
        for (std::int32_t t = tile; t < next; ++t) value += blocks.tile_values(t);
      tile = next;
    }
  }
}

/// Appends the runs of entries in rows. `offset` has the first entry of each row.
void append_runs(Schedule& schedule, std::span<const std::int64_t> offset, const DeviceInfo& device,
                 SddmmHeader& header) {
  const std::int64_t entries = offset.back();
  const std::int64_t share = entries / (kRoundEntries * device.sm_count * kWarpsPerSm);
  const std::int64_t row_length = entries / std::max<std::int64_t>(std::ssize(offset) - 1, 1);
  header.rounds = std::clamp<std::int64_t>(std::min(share, row_length / kRoundRowLength), 1, kMostRounds);
  const std::int64_t length = kRoundEntries * header.rounds;
  header.runs = (entries + length - 1) / length;
  header.first_row_at = append_zeros(schedule, at(header.runs) * sizeof(std::int32_t));
  auto* const first_row = reinterpret_cast<std::int32_t*>(schedule.bytes.data() + header.first_row_at);
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < header.runs; ++r)
    first_row[r] = static_cast<std::int32_t>(std::upper_bound(offset.begin(), offset.end(), r * length) -
                                             offset.begin() - 1);
}

}  // namespace

Schedule schedule_sddmm(const ScheduleRequest& request) {
  const Blocks blocks = formats::blocks_of(request.format);
  const DeviceInfo& device = request.device;
  Schedule schedule;
  SddmmHeader header;
  if (!blocks.tile_offset.empty()) append_items(schedule, blocks, device, header);
  if (!blocks.tile_offset.empty() && !blocks.has_masks())
    header.masks_at = append_masks(schedule, formats::as_me_tcf(request.format));
  if (!blocks.rows.class_offset.empty()) {
    const std::vector<std::int64_t> offset = formats::row_offsets(blocks.rows);
    header.row_offset_at = append(schedule, offset);
    append_runs(schedule, offset, device, header);
  } else if (!blocks.rows.offset.empty()) {
    append_runs(schedule, blocks.rows.offset, device, header);
  }
  schedule.header.set(header);
  return schedule;
}

}  // namespace sptile::runtime::cuda
