#include "runtime/cuda/sddmm/schedule.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "formats/layout/bittcf.hpp"
#include "formats/layout/bmat.hpp"
#include "formats/layout/csr.hpp"
#include "formats/layout/libra.hpp"
#include "formats/layout/me_tcf.hpp"
#include "formats/layout/rs_tile.hpp"
#include "runtime/cuda/device/schedule_parts.hpp"
#include "runtime/cuda/tile/schedule.hpp"

namespace sptile::runtime::cuda {
namespace {

using formats::FormatView;

constexpr std::int64_t kWarpsPerSm = 32;  ///< that the work should be enough for
constexpr std::int64_t kMostTiles = 16;   ///< of an item
constexpr std::int64_t kMostRounds = 4;   ///< of a run
/// Mean length of rows for each round of a run: where rows are short, so are runs, so that neighbours run
/// together and share rows of Y in caches.
constexpr std::int64_t kRoundRowLength = 4;
constexpr std::int64_t kRoundEntries = 32;  ///< of one round: a lane of the warp for each

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

Schedule empty_schedule() {
  Schedule schedule;
  schedule.numbers[kSampleMasksAt] = -1;
  schedule.numbers[kSampleRowOffsetAt] = -1;
  return schedule;
}

/// Appends the items of all windows. `row_of(w)` is the first row of a window, `first_value(w)` its first
/// entry, `values(t)` how many entries a tile has. O(windows + tiles of those that are cut).
template <class RowOf, class FirstValue, class Values>
void append_items(Schedule& schedule, std::span<const std::int32_t> offset, RowOf row_of,
                  FirstValue first_value, Values values, const DeviceInfo& device) {
  const std::int64_t windows = std::ssize(offset) - 1, tiles = offset.back();
  const std::int64_t share = tiles / (device.sm_count * kWarpsPerSm);
  const std::int64_t most = std::clamp<std::int64_t>(share / 2 * 2, 2, kMostTiles);
  std::vector<std::int64_t> first_item(at(windows + 1));
  for (std::int64_t w = 0; w < windows; ++w)
    first_item[at(w + 1)] = first_item[at(w)] + (offset[at(w + 1)] - offset[at(w)] + most - 1) / most;
  const std::int64_t count = first_item.back();
  schedule.numbers[kSampleItemsAt] = append_zeros(schedule, at(count) * sizeof(SampleItem));
  schedule.numbers[kSampleItemCount] = count;
  auto* const items = reinterpret_cast<SampleItem*>(schedule.bytes.data() + schedule.numbers[kSampleItemsAt]);
#pragma omp parallel for schedule(static)
  for (std::int64_t w = 0; w < windows; ++w) {
    const std::int32_t end = offset[at(w + 1)];
    SampleItem* item = items + first_item[at(w)];
    std::int64_t value = first_value(w);
    for (std::int32_t tile = offset[at(w)]; tile < end; ++item) {
      const auto next = static_cast<std::int32_t>(std::min<std::int64_t>(tile + most, end));
      *item = {value, tile, next, static_cast<std::int32_t>(row_of(w))};
      if (next < end)
        for (std::int32_t t = tile; t < next; ++t) value += values(t);
      tile = next;
    }
  }
}

/// Appends the runs of entries in rows. `offset` has the first entry of each row.
void append_runs(Schedule& schedule, std::span<const std::int64_t> offset, const DeviceInfo& device) {
  const std::int64_t entries = offset.back();
  const std::int64_t share = entries / (kRoundEntries * device.sm_count * kWarpsPerSm);
  const std::int64_t row_length = entries / std::max<std::int64_t>(std::ssize(offset) - 1, 1);
  const std::int64_t rounds =
      std::clamp<std::int64_t>(std::min(share, row_length / kRoundRowLength), 1, kMostRounds);
  const std::int64_t length = kRoundEntries * rounds, runs = (entries + length - 1) / length;
  schedule.numbers[kSampleFirstRowAt] = append_zeros(schedule, at(runs) * sizeof(std::int32_t));
  schedule.numbers[kSampleRuns] = runs;
  schedule.numbers[kSampleRounds] = rounds;
  auto* const first_row =
      reinterpret_cast<std::int32_t*>(schedule.bytes.data() + schedule.numbers[kSampleFirstRowAt]);
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < runs; ++r)
    first_row[r] = static_cast<std::int32_t>(std::upper_bound(offset.begin(), offset.end(), r * length) -
                                             offset.begin() - 1);
}

/// Windows of `height` rows whose tiles each have an offset.
void append_tiles(Schedule& schedule, std::span<const std::int32_t> window,
                  std::span<const std::uint32_t> tile, std::int64_t height, const DeviceInfo& device) {
  append_items(
      schedule, window, [=](std::int64_t w) { return height * w; },
      [=](std::int64_t w) { return std::int64_t{tile[at(window[at(w)])]}; },
      [=](std::int64_t t) { return std::int64_t{tile[at(t + 1)]} - tile[at(t)]; }, device);
}

}  // namespace

Schedule sample_csr(const FormatView& format, std::span<const std::int32_t>, std::int64_t,
                    const DeviceInfo& device) {
  Schedule schedule = empty_schedule();
  append_runs(schedule, formats::as_csr(format).row_ptr, device);
  return schedule;
}

Schedule sample_bittcf(const FormatView& format, std::span<const std::int32_t>, std::int64_t,
                       const DeviceInfo& device) {
  const formats::BitTcfView a = formats::as_bittcf(format);
  Schedule schedule = empty_schedule();
  append_tiles(schedule, a.row_window_offset, a.tc_offset, 8, device);
  return schedule;
}

Schedule sample_me_tcf(const FormatView& format, std::span<const std::int32_t>, std::int64_t,
                       const DeviceInfo& device) {
  const formats::MeTcfView a = formats::as_me_tcf(format);
  Schedule schedule = empty_schedule();
  append_tiles(schedule, a.row_window_offset, a.tc_offset, 16, device);
  schedule.numbers[kSampleMasksAt] = append_masks(schedule, a);
  return schedule;
}

Schedule sample_bmat(const FormatView& format, std::span<const std::int32_t>, std::int64_t,
                     const DeviceInfo& device) {
  const formats::BmatView a = formats::as_bmat(format);
  Schedule schedule = empty_schedule();
  append_items(
      schedule, a.row_window_offset, [](std::int64_t w) { return 16 * w; },
      [&](std::int64_t w) { return a.value_offset[at(w)]; },
      [&](std::int64_t t) {
        std::int64_t count = 0;
        for (const std::uint32_t word : a.bits.subspan(4 * at(t), 4)) count += std::popcount(word);
        return count;
      },
      device);
  return schedule;
}

Schedule sample_rs_tile(const FormatView& format, std::span<const std::int32_t>, std::int64_t,
                        const DeviceInfo& device) {
  const formats::RsTileView a = formats::as_rs_tile(format);
  Schedule schedule = empty_schedule();
  append_items(
      schedule, a.row_window_offset, [&](std::int64_t w) { return a.row_window_id[at(w)]; },
      [&](std::int64_t w) { return a.value_offset[at(w)]; },
      [&](std::int64_t t) { return std::int64_t{std::popcount(a.bitmap[at(t)])}; }, device);
  const std::vector<std::int64_t> offset = formats::residual_row_offsets(a);
  schedule.numbers[kSampleRowOffsetAt] = append(schedule, offset);
  append_runs(schedule, offset, device);
  return schedule;
}

Schedule sample_libra(const FormatView& format, std::span<const std::int32_t>, std::int64_t,
                      const DeviceInfo& device) {
  const formats::LibraView a = formats::as_libra(format);
  Schedule schedule = empty_schedule();
  append_tiles(schedule, a.row_window_offset, a.tc_offset, 8, device);
  append_runs(schedule, a.residual_row_offset, device);
  return schedule;
}

}  // namespace sptile::runtime::cuda
