#include "runtime/cuda/papers/bulk/schedule.hpp"

#include <algorithm>
#include <cmath>

namespace sptile::runtime::cuda {
namespace {

using formats::BmatView;

/// A cut between two segments of the slice; within a window unless `segment` is its first.
struct Cut {
  std::int64_t window;
  int segment;
  auto operator<=>(const Cut&) const = default;
};

class Cutter {
 public:
  Cutter(const BmatView& a, int segments, const BulkCosts& costs)
      : a_(a), segments_(segments), costs_(costs) {}

  [[nodiscard]] Cut end() const { return {std::ssize(a_.row_window_offset) - 1, 0}; }
  /// Returns the cost of everything before a window.
  [[nodiscard]] double cost_before(std::int64_t window) const {
    return costs_.tile * static_cast<double>(first_tile(window)) +
           costs_.window * static_cast<double>(window);
  }

  /// Returns the cut with that cost before it, or the edge of a window if it is nearer than an eighth of its
  /// columns (Algorithm 1).
  [[nodiscard]] Cut cut_at(double cost) const {
    std::int64_t low = 0, high = end().window;  // the window is in [low, high)
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (cost_before(middle) <= cost ? low : high) = middle;
    }
    const double inside = (cost - cost_before(low)) / (cost_before(low + 1) - cost_before(low));
    const auto segment = static_cast<int>(std::lround(std::clamp(inside, 0.0, 1.0) * segments_));
    if (8 * segment < segments_) return {low, 0};
    if (8 * segment > 7 * segments_) return {low + 1, 0};
    return {low, segment};
  }

  [[nodiscard]] BulkShare share(const Cut& from, const Cut& to) const {
    if (from.window == to.window)
      return {part(from.window, from.window + 1, from.segment, to.segment), {}, {}};
    const std::int64_t whole = from.window + (from.segment > 0 ? 1 : 0);
    BulkShare share{};
    if (from.segment > 0) share[0] = part(from.window, whole, from.segment, segments_);
    if (whole < to.window) share[1] = part(whole, to.window, 0, segments_);
    if (to.segment > 0) share[2] = part(to.window, to.window + 1, 0, to.segment);
    return share;
  }

 private:
  [[nodiscard]] std::int32_t first_tile(std::int64_t window) const {
    return a_.row_window_offset[static_cast<std::size_t>(window)];
  }
  [[nodiscard]] BulkPart part(std::int64_t begin, std::int64_t end, int segment_begin,
                              int segment_end) const {
    return {a_.value_offset[static_cast<std::size_t>(begin)],
            first_tile(begin),
            first_tile(end),
            static_cast<std::int32_t>(begin),
            static_cast<std::int32_t>(end),
            segment_begin,
            segment_end};
  }

  const BmatView& a_;
  int segments_;
  const BulkCosts& costs_;
};

constexpr double kLeastCost = 0.01, kMostCost = 1000;

/// Blocks and stages of a shape that fit on a device.
struct Room {
  int blocks, stages;
};

/// Each block reserves 1 KiB in addition to its request.
Room room_of(int slice_segments, int entry_bytes, const DeviceInfo& device) {
  const BulkShape& shape = bulk_shape(slice_segments);
  const BulkStage stage = bulk_stage(slice_segments, shape.tiles, entry_bytes);
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
int segments_most(int entry_bytes, const DeviceInfo& device) {
  int most = 0;
  for (const BulkShape& shape : kBulkShapes) {
    if (room_of(shape.segments, entry_bytes, device).stages < 2) break;
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
  return costs;
}

std::vector<BulkShare> partition_columns(const BmatView& a, int slice_segments, std::int64_t count,
                                         const BulkCosts& costs) {
  const Cutter cutter(a, slice_segments, costs);
  std::vector<BulkShare> shares;
  const Cut end = cutter.end();
  if (end.window == 0) return shares;
  const double share = cutter.cost_before(end.window) / static_cast<double>(count);
  Cut from{0, 0};
  for (std::int64_t s = 1; s <= count; ++s) {
    const Cut to = s == count ? end : cutter.cut_at(share * static_cast<double>(s));
    if (to <= from) continue;
    shares.push_back(cutter.share(from, to));
    from = to;
  }
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
                                      int entry_bytes) {
  const BmatView a = formats::as_bmat(request.format);
  const DeviceInfo& device = request.device;
  BulkHeader header;
  header.segments_most = segments_most(entry_bytes, device);
  if (header.segments_most == 0) return std::nullopt;
  const auto [slices, slice_segments] = bulk_slices(request.n * element_bytes, header.segments_most);
  const Room room = room_of(slice_segments, entry_bytes, device);
  header.slice_segments = slice_segments;
  header.stages = room.stages;
  header.slices_together = slices_together(a.cols, static_cast<int>(slices),
                                           std::int64_t{slice_segments} * kBulkSegmentBytes, device);
  const std::int64_t blocks = std::int64_t{std::max(device.sm_count, 1)} * room.blocks;
  const std::vector<BulkShare> shares = partition_columns(
      a, slice_segments, std::max<std::int64_t>(blocks / header.slices_together, 1), bulk_costs(request));
  header.shares_at = append(schedule, shares);
  header.blocks = static_cast<int>(std::ssize(shares));
  return header;
}

}  // namespace sptile::runtime::cuda
