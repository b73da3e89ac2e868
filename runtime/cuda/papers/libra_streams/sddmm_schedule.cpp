#include "runtime/cuda/papers/libra_streams/sddmm_schedule.hpp"

#include <algorithm>
#include <vector>

#include "formats/layout/libra_rules.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr int kTileColumns = 8;

/// Appends an item per segment of a window.
void append_items(Schedule& schedule, const formats::LibraView& a, const LibraBalance& balance,
                  SddmmHeader& header) {
  std::vector<SddmmItem> items;
  for (std::size_t i = 0; i < balance.cur_window.size(); ++i) {
    const std::int32_t begin = balance.window_offset[i];
    items.push_back({a.tc_offset[static_cast<std::size_t>(begin)], begin, balance.window_offset[i + 1],
                     kLibraWindowRows * balance.cur_window[i]});
  }
  header.items_at = append(schedule, items);
  header.item_count = std::ssize(items);
}

/// Appends the segments of long rows and the short rows.
void append_rows(Schedule& schedule, const LibraBalance& balance, LibraSddmmHeader& header) {
  std::vector<SddmmSegment> lists[2];
  for (std::size_t i = 0; i < balance.cur_row.size(); ++i) {
    const auto entries = static_cast<std::int32_t>(balance.row_offset[i + 1] - balance.row_offset[i]);
    const bool is_short = balance.is_short[i] != 0;
    lists[is_short ? 1 : 0].push_back({balance.row_offset[i], balance.cur_row[i], entries});
    if (is_short) header.short_entries = std::max<std::int64_t>(header.short_entries, entries);
  }
  header.long_at = append(schedule, lists[0]);
  header.long_count = std::ssize(lists[0]);
  header.short_at = append(schedule, lists[1]);
  header.short_count = std::ssize(lists[1]);
}

}  // namespace

Schedule schedule_libra_sddmm(const ScheduleRequest& request, const LibraPolicy& policy,
                              const LibraSddmmKernels& kernels) {
  const formats::LibraView a = formats::as_libra(request.format);
  const LibraBalance balance =
      cut_segments(request, policy.sizes, formats::kLibraSddmmBlockColumns / kTileColumns, kernels.cut)
          .balance;
  Schedule schedule;
  LibraSddmmHeader header;
  append_items(schedule, a, balance, header.parts);
  append_rows(schedule, balance, header);
  const auto ratio = [&](std::int64_t items, int per_block, int per_sm) {
    return LibraGrid{(items + per_block - 1) / per_block, per_sm}.ratio(request.device.sm_count);
  };
  header.ratios = {ratio(header.parts.item_count, kernels.warps, kernels.tile_blocks_per_sm),
                   ratio(header.long_count, kernels.warps, kernels.long_blocks_per_sm) +
                       ratio(header.short_count, kernels.short_groups, kernels.short_blocks_per_sm)};
  header.fixed_mode = policy.mode.has_value();
  header.two_streams = policy.mode.value_or(choose_mode(header.ratios)) == LibraMode::two_streams &&
                       header.parts.item_count > 0 && !balance.cur_row.empty();
  schedule.header.set(header);
  return schedule;
}

}  // namespace sptile::runtime::cuda
