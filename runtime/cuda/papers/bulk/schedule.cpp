#include "runtime/cuda/papers/bulk/schedule.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sptile::runtime::cuda {
namespace {

using formats::BmatView;

/// Between two tiles; in a window unless `tile` is its first.
struct Cut {
  std::int64_t window, tile;
};

class Cutter {
 public:
  Cutter(const BmatView& a, const BulkCosts& costs) : a_(a), costs_(costs) {}

  [[nodiscard]] std::int64_t windows() const { return std::ssize(a_.row_window_offset) - 1; }
  [[nodiscard]] std::int64_t first_tile(std::int64_t window) const {
    return a_.row_window_offset[static_cast<std::size_t>(window)];
  }
  /// Cost of everything before a window.
  [[nodiscard]] double cost_before(std::int64_t window) const {
    return costs_.tile * static_cast<double>(first_tile(window)) +
           costs_.window * static_cast<double>(window);
  }
  [[nodiscard]] double total() const { return cost_before(windows()); }

  /// Finds where that much of the cost is before the cut, or the edge of a window that is near.
  [[nodiscard]] Cut cut_at(double cost, double piece) const {
    std::int64_t low = 0, high = windows();  // the window is in [low, high)
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (cost_before(middle) <= cost ? low : high) = middle;
    }
    const std::int64_t begin = first_tile(low), tiles = first_tile(low + 1) - begin;
    const double inside = (cost - cost_before(low)) / costs_.tile;
    const auto tile = std::clamp<std::int64_t>(std::llround(inside), 0, tiles);
    const auto near = static_cast<std::int64_t>(std::min(
        std::max(static_cast<double>(tiles) / 8, costs_.piece / costs_.tile), piece / costs_.tile / 16));
    if (std::min(tile, tiles - tile) > near) return {low, begin + tile};
    return 2 * tile < tiles ? Cut{low, begin} : Cut{low + 1, begin + tiles};
  }

  [[nodiscard]] bool is_inside(const Cut& cut) const { return cut.tile > first_tile(cut.window); }

  /// First entry of the tile behind the cut.
  [[nodiscard]] std::int64_t first_value(const Cut& cut) const {
    std::int64_t value = a_.value_offset[static_cast<std::size_t>(cut.window)];
    const auto begin = static_cast<std::size_t>(first_tile(cut.window));
    for (std::size_t w = 4 * begin; w < 4 * static_cast<std::size_t>(cut.tile); ++w)
      value += std::popcount(a_.bits[w]);
    return value;
  }

 private:
  const BmatView& a_;
  const BulkCosts& costs_;
};

/// Gives the next slot to a window that is cut; `first`: to its first part.
std::int32_t next_slot(BulkPartition& partition, bool first) {
  auto& splits = partition.splits;
  const auto slot = static_cast<std::int32_t>(partition.slot_splits.size());
  if (first) splits.push_back({slot, 0, 0});
  ++splits.back().count;
  partition.slot_splits.push_back(static_cast<std::int32_t>(splits.size()) - 1);
  return slot;
}

constexpr double kLeastCost = 0.01, kMostCost = 1000;

/// Blocks that share a multiprocessor, as registers allow.
constexpr int kBlocksPerSm = 2;

/// Stages that a block can have when so many share a multiprocessor, which keeps 1 KiB for each.
int stages_of(const BulkStage& stage, int blocks, const DeviceInfo& device) {
  const auto room =
      (static_cast<std::int64_t>(device.shared_per_block) + 1024) / blocks - 1024 - kBulkBarrierBytes;
  return static_cast<int>(std::clamp<std::int64_t>(room / stage.bytes, 0, kBulkStagesMost));
}

}  // namespace

BulkTuning bulk_tuning(const ScheduleRequest& request) {
  BulkTuning tuning;
  const auto read = [&](double& cost, std::string_view name) {
    const std::optional<double> number = request.cost(name);
    // What cannot be meant would only make pieces that are no division of the work.
    if (number && *number >= kLeastCost && *number <= kMostCost) cost = *number;
  };
  read(tuning.costs.tile, kBulkCosts[0]);
  read(tuning.costs.window, kBulkCosts[1]);
  read(tuning.costs.piece, kBulkCosts[2]);
  return tuning;
}

BulkPartition partition_tiles(const BmatView& a, std::int64_t count, const BulkCosts& costs) {
  const Cutter cutter(a, costs);
  BulkPartition result;
  if (cutter.windows() == 0) return result;
  const Cut end{cutter.windows(), cutter.first_tile(cutter.windows())};
  const double piece = cutter.total() / static_cast<double>(count);
  Cut from{0, 0};
  for (std::int64_t p = 1; p <= count; ++p) {
    Cut to = p == count ? end : cutter.cut_at(piece * static_cast<double>(p), piece);
    if (to.window < from.window || (to.window == from.window && to.tile <= from.tile)) continue;
    BulkPiece made{cutter.first_value(from),
                   static_cast<std::int32_t>(from.tile),
                   static_cast<std::int32_t>(to.tile),
                   static_cast<std::int32_t>(from.window),
                   static_cast<std::int32_t>(to.window + (cutter.is_inside(to) ? 1 : 0)),
                   -1,
                   -1};
    const bool one = made.window_end - made.window_begin == 1;
    const bool head = cutter.is_inside(from), tail = cutter.is_inside(to);
    if (head || (one && tail)) made.head_slot = next_slot(result, !head);
    if (!one && tail) made.tail_slot = next_slot(result, true);
    result.pieces.push_back(made);
    from = to;
  }
  for (SplitWindow& split : result.splits) {
    split.first_counter = result.counters;
    result.counters += sum_counters(split.count);
  }
  return result;
}

std::int64_t piece_count(const BmatView& a, std::int64_t blocks, const BulkTuning& tuning) {
  const double total = Cutter(a, tuning.costs).total();
  const auto rounds = static_cast<std::int64_t>(total / (static_cast<double>(blocks) * tuning.piece_target));
  if (rounds >= 1) return rounds * blocks;
  const auto few = static_cast<std::int64_t>(total / tuning.piece_least);
  return std::clamp<std::int64_t>(few, 1, blocks);
}

BulkSlices bulk_slices(std::int64_t row_bytes) {
  const std::int64_t segments = (row_bytes + kBulkSegmentBytes - 1) / kBulkSegmentBytes;
  const std::int64_t slices = (segments + kBulkSegmentsMost - 1) / kBulkSegmentsMost;
  return {slices, static_cast<int>((segments + slices - 1) / slices)};
}

std::int64_t bulk_least_row_bytes(std::int64_t row_bytes) {
  const auto [slices, segments] = bulk_slices(row_bytes);
  const std::int64_t fewer = std::max(slices * (segments - 1), (slices - 1) * kBulkSegmentsMost);
  return fewer * kBulkSegmentBytes + 1;
}

std::optional<BulkHeader> append_bulk(Schedule& schedule, const ScheduleRequest& request, int element_bytes,
                                      std::span<const BulkVariant> variants) {
  const BmatView a = formats::as_bmat(request.format);
  const DeviceInfo& device = request.device;
  const BulkTuning tuning = bulk_tuning(request);
  const auto [slices, slice_segments] = bulk_slices(request.n * element_bytes);
  // Stages of some 16 KiB: narrow slices have more tiles in one.
  std::size_t variant = 0;
  while (variant + 1 < variants.size() &&
         8 * variants[variant].tiles * slice_segments * kBulkSegmentBytes < (12 << 10))
    ++variant;
  const BulkStage stage = bulk_stage(slice_segments, variants[variant].tiles, variants[variant].entry_bytes);
  int per_sm = kBlocksPerSm;
  while (per_sm > 1 && stages_of(stage, per_sm, device) < 3) --per_sm;
  const int stages = stages_of(stage, per_sm, device);
  if (stages < 2) return std::nullopt;

  const std::int64_t slice_bytes = std::int64_t{slice_segments} * kBulkSegmentBytes;
  const int together = slices_together(a.cols, static_cast<int>(slices), slice_bytes, device);
  const std::int64_t room = std::int64_t{std::max(device.sm_count, 1)} * per_sm;
  const std::int64_t blocks = std::max<std::int64_t>(room / together, 1);
  const BulkPartition partition = partition_tiles(a, piece_count(a, blocks, tuning), tuning.costs);
  const std::int64_t accumulator = element_bytes == 8 ? 8 : 4;
  const std::int64_t slot = 16 * slices * slice_bytes / element_bytes * accumulator;
  BulkHeader header;
  header.scratch = append_scratch(schedule, partition.counters * slices * slice_segments,
                                  std::ssize(partition.slot_splits) * slot);
  header.pieces_at = append(schedule, partition.pieces);
  header.piece_count = std::ssize(partition.pieces);
  header.splits_at = append(schedule, partition.splits);
  header.slot_splits_at = append(schedule, partition.slot_splits);
  header.variant = static_cast<int>(variant);
  header.slices_together = together;
  header.blocks = static_cast<int>(std::min<std::int64_t>(blocks, header.piece_count));
  header.slice_segments = slice_segments;
  header.stages = stages;
  return header;
}

}  // namespace sptile::runtime::cuda
