#include "runtime/cuda/families/sddmm/schedule.hpp"

#include <algorithm>
#include <vector>

#include "formats/layout/blocks.hpp"
#include "runtime/cuda/device/me_tcf_masks.hpp"
#include "runtime/cuda/families/sddmm/policy.hpp"
#include "runtime/cuda/stored_schedule.hpp"
#include "runtime/threads/count.hpp"

namespace sptile::runtime::cuda {
namespace {

using formats::Blocks;

constexpr SddmmPolicy kPolicy = {};
constexpr std::int64_t kRoundEntries = 32;  ///< entries per round, one per lane of the warp

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Division of the windows.
struct TileCut {
  std::int64_t most;                     ///< maximum number of tiles of an item
  std::vector<std::int64_t> first_item;  ///< first item of each window, and the number of items
};

TileCut cut_windows(const Blocks& blocks, const DeviceInfo& device) {
  const std::int64_t windows = blocks.windows(), tiles = blocks.tile_offset.back();
  const auto offset = blocks.tile_offset;
  const std::int64_t share = tiles / (device.sm_count * kPolicy.warps_per_sm);
  TileCut cut{std::clamp<std::int64_t>(share / 2 * 2, 2, kPolicy.max_tiles), {}};
  cut.first_item.resize(at(windows + 1));
  for (std::int64_t w = 0; w < windows; ++w)
    cut.first_item[at(w + 1)] =
        cut.first_item[at(w)] + (offset[at(w + 1)] - offset[at(w)] + cut.most - 1) / cut.most;
  return cut;
}

/// Calls f(number, item) for the items of a window. O(items), or O(tiles) if tiles have no offsets.
template <class F>
void for_each_item(const Blocks& blocks, const TileCut& cut, std::int64_t window, const F& f) {
  const std::int32_t end = blocks.tile_offset[at(window + 1)];
  std::int64_t number = cut.first_item[at(window)], value = blocks.first_value(window);
  for (std::int32_t tile = blocks.tile_offset[at(window)]; tile < end; ++number) {
    const auto next = static_cast<std::int32_t>(std::min<std::int64_t>(tile + cut.most, end));
    f(at(number), SddmmItem{value, tile, next, static_cast<std::int32_t>(blocks.row_of(window))});
    if (next < end) value += blocks.values_between(tile, next);
    tile = next;
  }
}

/// Appends the items of all windows.
void append_items(Schedule& schedule, const Blocks& blocks, const DeviceInfo& device, SddmmHeader& header) {
  const TileCut cut = cut_windows(blocks, device);
  header.item_count = cut.first_item.back();
  header.items_at = append_zeros(schedule, at(header.item_count) * sizeof(SddmmItem));
  auto* const items = reinterpret_cast<SddmmItem*>(schedule.bytes.data() + header.items_at);
#pragma omp parallel for schedule(static) num_threads(max_threads())
  for (std::int64_t w = 0; w < blocks.windows(); ++w)
    for_each_item(blocks, cut, w, [&](std::size_t i, const SddmmItem& item) { items[i] = item; });
}

/// Restores the result of append_items.
void read_items(ScheduleReader& reader, const Blocks& blocks, const DeviceInfo& device, SddmmHeader& header) {
  const TileCut cut = cut_windows(blocks, device);
  header.item_count = cut.first_item.back();
  const auto items = reader.part<SddmmItem>(header.item_count, header.items_at);
  if (items.empty()) return;
  bool same = true;
#pragma omp parallel for schedule(static) num_threads(max_threads()) reduction(&& : same)
  for (std::int64_t w = 0; w < blocks.windows(); ++w)
    for_each_item(blocks, cut, w,
                  [&](std::size_t i, const SddmmItem& item) { same = same && items[i] == item; });
  reader.require(same, "an item has a wrong position");
}

/// Divides entries in rows into runs. `offset` is the first entry of each row. Returns the entries per run.
std::int64_t cut_rows(std::span<const std::int64_t> offset, const DeviceInfo& device, SddmmHeader& header) {
  const std::int64_t entries = offset.back();
  const std::int64_t share = entries / (kRoundEntries * device.sm_count * kPolicy.warps_per_sm);
  const std::int64_t row_length = entries / std::max<std::int64_t>(std::ssize(offset) - 1, 1);
  header.rounds =
      std::clamp<std::int64_t>(std::min(share, row_length / kPolicy.round_row_length), 1, kPolicy.max_rounds);
  const std::int64_t length = kRoundEntries * header.rounds;
  header.runs = (entries + length - 1) / length;
  return length;
}

/// Appends the row of the first entry of each run.
void append_runs(Schedule& schedule, std::span<const std::int64_t> offset, const DeviceInfo& device,
                 SddmmHeader& header) {
  const std::int64_t length = cut_rows(offset, device, header);
  header.first_row_at = append_zeros(schedule, at(header.runs) * sizeof(std::int32_t));
  auto* const first_row = reinterpret_cast<std::int32_t*>(schedule.bytes.data() + header.first_row_at);
#pragma omp parallel for schedule(static) num_threads(max_threads())
  for (std::int64_t r = 0; r < header.runs; ++r)
    first_row[r] = static_cast<std::int32_t>(std::upper_bound(offset.begin(), offset.end(), r * length) -
                                             offset.begin() - 1);
}

/// Restores the result of append_runs.
void read_runs(ScheduleReader& reader, std::span<const std::int64_t> offset, const DeviceInfo& device,
               SddmmHeader& header) {
  const std::int64_t length = cut_rows(offset, device, header), rows = std::ssize(offset) - 1;
  const auto first_row = reader.part<std::int32_t>(header.runs, header.first_row_at);
  for (std::int64_t r = 0; r < std::ssize(first_row); ++r) {
    const std::int64_t row = first_row[at(r)];
    const bool there =
        row >= 0 && row < rows && offset[at(row)] <= r * length && r * length < offset[at(row + 1)];
    reader.require(there, "a run does not start in its row");
  }
}

Schedule make_schedule(const ScheduleRequest& request, bool with_masks) {
  const Blocks blocks = formats::blocks_of(request.format);
  const DeviceInfo& device = request.device;
  Schedule schedule;
  SddmmHeader header;
  if (!blocks.tile_offset.empty()) append_items(schedule, blocks, device, header);
  if (with_masks && !blocks.tile_offset.empty() && !blocks.has_masks())
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

}  // namespace

Schedule schedule_sddmm(const ScheduleRequest& request) { return make_schedule(request, true); }

Schedule schedule_sddmm_without_masks(const ScheduleRequest& request) {
  return make_schedule(request, false);
}

namespace {

std::vector<std::int64_t> no_numbers(const ScheduleHeader& /*header*/) { return {}; }

/// Restores the result of schedule_sddmm, and checks that every tile and every entry in rows belongs to one
/// item.
SddmmHeader read_sddmm(ScheduleReader& reader, const ScheduleRequest& request) {
  const Blocks blocks = formats::blocks_of(request.format);
  const DeviceInfo& device = request.device;
  SddmmHeader header;
  if (!blocks.tile_offset.empty()) read_items(reader, blocks, device, header);
  if (!blocks.tile_offset.empty() && !blocks.has_masks())
    header.masks_at = read_masks(reader, formats::as_me_tcf(request.format));
  if (!blocks.rows.class_offset.empty()) {
    const std::vector<std::int64_t> offset = formats::row_offsets(blocks.rows);
    reader.expect(offset, header.row_offset_at, "the row classes do not match the matrix");
    read_runs(reader, offset, device, header);
  } else if (!blocks.rows.offset.empty()) {
    read_runs(reader, blocks.rows.offset, device, header);
  }
  return header;
}

Result<Schedule> restore_sddmm(const ScheduleRequest& request, const StoredSchedule& stored) {
  return restore_schedule(
      stored, [&](ScheduleReader& reader, Schedule& /*schedule*/) { return read_sddmm(reader, request); });
}

}  // namespace

const ScheduleStore kSddmmStore = {1, no_numbers, restore_sddmm};

}  // namespace sptile::runtime::cuda
