#include "runtime/cuda/papers/bulk/schedule.hpp"

#include <algorithm>

namespace sptile::runtime::cuda {
namespace {

using formats::BmatView;

/// Makes the parts of shares between cuts.
class ShareMaker {
 public:
  ShareMaker(const BmatView& a, int segments) : a_(a), segments_(segments) {}

  [[nodiscard]] BulkShare share(std::int64_t from, std::int64_t to) const {
    const std::int64_t first = from / segments_, last = to / segments_;
    const auto begin = static_cast<int>(from % segments_), end = static_cast<int>(to % segments_);
    if (first == last) return {part(first, first + 1, begin, end), {}, {}};
    const std::int64_t whole = first + (begin > 0 ? 1 : 0);
    BulkShare share{};
    if (begin > 0) share[0] = part(first, whole, begin, segments_);
    if (whole < last) share[1] = part(whole, last, 0, segments_);
    if (end > 0) share[2] = part(last, last + 1, 0, end);
    return share;
  }

 private:
  [[nodiscard]] BulkPart part(std::int64_t begin, std::int64_t end, int segment_begin,
                              int segment_end) const {
    return {a_.value_offset[static_cast<std::size_t>(begin)],
            a_.row_window_offset[static_cast<std::size_t>(begin)],
            a_.row_window_offset[static_cast<std::size_t>(end)],
            static_cast<std::int32_t>(begin),
            static_cast<std::int32_t>(end),
            segment_begin,
            segment_end};
  }

  const BmatView& a_;
  int segments_;
};

constexpr double kLeastCost = 0.01, kMostCost = 1000;

/// Blocks and stages of a shape that fit on a device.
struct Room {
  int blocks, stages;
};

/// Each block reserves 1 KiB in addition to its request.
Room room_of(int slice_segments, int tile_bytes, const DeviceInfo& device) {
  const BulkShape& shape = bulk_shape(slice_segments);
  const BulkStage stage = bulk_stage(slice_segments, shape.tiles, tile_bytes);
  const auto stages = [&](int blocks) {
    const auto bytes =
        (static_cast<std::int64_t>(device.shared_per_block) + 1024) / blocks - 1024 - kBulkBarrierBytes;
    return static_cast<int>(std::clamp<std::int64_t>(bytes / stage.bytes, 0, shape.stages));
  };
  int blocks = shape.blocks;
  while (blocks > 1 && stages(blocks) < std::min(shape.stages, 3)) --blocks;
  return {blocks, stages(blocks)};
}

/// Returns the segments of the widest slices that fit on a device with two stages, as all narrower ones do;
/// 0: none.
int segments_most(int tile_bytes, const DeviceInfo& device) {
  int most = 0;
  for (const BulkShape& shape : kBulkShapes) {
    if (room_of(shape.segments, tile_bytes, device).stages < 2) break;
    most = shape.segments;
  }
  return most;
}

}  // namespace

BulkCosts bulk_costs(const ScheduleRequest& request) {
  BulkCosts costs;
  const auto read = [&](double& cost, std::string_view name) {
    const std::optional<double> number = request.cost(name);
    // Invalid costs would produce shares that are not a division of the work.
    if (number && *number >= kLeastCost && *number <= kMostCost) cost = *number;
  };
  read(costs.tile, kBulkCosts[0]);
  read(costs.window, kBulkCosts[1]);
  read(costs.fixed, kBulkCosts[2]);
  return costs;
}

std::vector<BulkShare> partition_columns(const BmatView& a, int slice_segments, std::int64_t count,
                                         const BulkCosts& costs, BulkDivision divide) {
  std::vector<BulkShare> shares;
  if (std::ssize(a.row_window_offset) <= 1) return shares;
  const BulkCuts cuts = divide(BulkCostModel(a, slice_segments, costs), count);
  const ShareMaker maker(a, slice_segments);
  for (std::size_t i = 1; i < cuts.size(); ++i)
    if (cuts[i] > cuts[i - 1]) shares.push_back(maker.share(cuts[i - 1], cuts[i]));
  return shares;
}

BulkSlices bulk_slices(std::int64_t row_bytes, int segments_most) {
  const std::int64_t segments = (row_bytes + kBulkSegmentBytes - 1) / kBulkSegmentBytes;
  const std::int64_t slices = (segments + segments_most - 1) / segments_most;
  return {slices, static_cast<int>((segments + slices - 1) / slices)};
}

std::int64_t bulk_least_row_bytes(std::int64_t row_bytes, int segments_most) {
  const auto [slices, segments] = bulk_slices(row_bytes, segments_most);
  const std::int64_t fewer = std::max(slices * (segments - 1), (slices - 1) * segments_most);
  return fewer * kBulkSegmentBytes + 1;
}

std::optional<BulkHeader> append_bulk(Schedule& schedule, const ScheduleRequest& request, int element_bytes,
                                      const BulkTraits& traits) {
  const BmatView a = formats::as_bmat(request.format);
  const DeviceInfo& device = request.device;
  BulkHeader header;
  header.segments_most = segments_most(traits.tile_bytes, device);
  if (header.segments_most == 0) return std::nullopt;
  const auto [slices, slice_segments] = bulk_slices(request.n * element_bytes, header.segments_most);
  const Room room = room_of(slice_segments, traits.tile_bytes, device);
  header.slice_segments = slice_segments;
  header.stages = std::min(room.stages, traits.max_stages);
  header.slices_together = slices_together(a.cols, static_cast<int>(slices),
                                           std::int64_t{slice_segments} * kBulkSegmentBytes, device);
  const std::int64_t blocks = std::int64_t{std::max(device.sm_count, 1)} * room.blocks;
  const std::vector<BulkShare> shares =
      partition_columns(a, slice_segments, std::max<std::int64_t>(blocks / header.slices_together, 1),
                        bulk_costs(request), traits.divide);
  header.shares_at = append(schedule, shares);
  header.blocks = static_cast<int>(std::ssize(shares));
  return header;
}

}  // namespace sptile::runtime::cuda
