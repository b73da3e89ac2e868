#include "runtime/cuda/tall/schedule.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <utility>

#include "runtime/fork.hpp"

namespace sptile::runtime::cuda {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

int round_up(int bytes, int to) { return (bytes + to - 1) / to * to; }

/// Entries of a run of groups.
std::int64_t entries(const formats::TallView& a, std::int64_t group, std::int64_t end) {
  const auto before = [&](std::int64_t g) { return a.value_offset[at(a.group_tile_offset[at(g)])]; };
  return std::int64_t{before(end)} - before(group);
}

/// Ends the chunk that starts at `group`.
std::int64_t chunk_end(const formats::TallView& a, std::int64_t group, std::int64_t window_end,
                       int most_values) {
  std::int64_t end = std::min(group + kTallChunkGroups, window_end);
  while (end > group + 1 && entries(a, group, end) > most_values) --end;
  return end;
}

/// Calls f(first group, end) for each chunk of a window, at least once.
template <class F>
void for_each_chunk(const formats::TallView& a, std::int64_t window, int most_values, const F& f) {
  const std::int64_t end = a.window_group_offset[at(window + 1)];
  std::int64_t group = a.window_group_offset[at(window)];
  do {
    const std::int64_t next = group == end ? end : chunk_end(a, group, end, most_values);
    f(group, next);
    group = next;
  } while (group < end);
}

TallChunk make_chunk(const formats::TallView& a, std::int64_t window, std::int64_t group, std::int64_t end) {
  TallChunk chunk{};
  const std::int32_t tile = a.group_tile_offset[at(group)];
  for (std::int64_t g = group; g < end; ++g)
    chunk.mask[g - group] = static_cast<std::uint16_t>(a.group_mask[at(g)]);
  chunk.tile_and_last = static_cast<std::uint32_t>(tile);
  chunk.value = a.value_offset[at(tile)];
  chunk.group = static_cast<std::int32_t>(group);
  chunk.groups = static_cast<std::uint8_t>(end - group);
  chunk.tiles = static_cast<std::uint8_t>(a.group_tile_offset[at(end)] - tile);
  chunk.row = a.window_row[at(window)];
  chunk.rows = static_cast<std::uint16_t>(a.window_row[at(window + 1)] - chunk.row);
  chunk.values = static_cast<std::uint32_t>(entries(a, group, end));
  if (end == a.window_group_offset[at(window + 1)]) chunk.tile_and_last |= kTallLast;
  return chunk;
}

/// Counts chunks: the first of each window, and their number.
std::vector<std::int32_t> count_chunks(const formats::TallView& a, int most_values) {
  const std::int64_t windows = a.windows();
  std::vector<std::int32_t> first(at(windows) + 1);
#pragma omp parallel for schedule(static) num_threads(most_threads())
  for (std::int64_t w = 0; w < windows; ++w)
    for_each_chunk(a, w, most_values, [&](std::int64_t, std::int64_t) { ++first[at(w) + 1]; });
  for (std::size_t w = 1; w < first.size(); ++w) first[w] += first[w - 1];
  return first;
}

/// Makes the chunks that were counted.
std::vector<TallChunk> make_chunks(const formats::TallView& a, int most_values,
                                   const std::vector<std::int32_t>& first) {
  std::vector<TallChunk> chunks(at(first.back()));
#pragma omp parallel for schedule(static) num_threads(most_threads())
  for (std::int64_t w = 0; w < a.windows(); ++w) {
    TallChunk* to = chunks.data() + first[at(w)];
    for_each_chunk(a, w, most_values,
                   [&](std::int64_t group, std::int64_t end) { *to++ = make_chunk(a, w, group, end); });
  }
  return chunks;
}

/// Cost of a window, in fifths of the time of a group: its rows of B come from L2, tiles read theirs from
/// shared memory five times as fast, rows of C go to memory.
std::int64_t cost_of(const formats::TallView& a, std::int64_t w) {
  const std::int64_t group = a.window_group_offset[at(w)], end = a.window_group_offset[at(w + 1)];
  return 5 * (end - group) + (a.group_tile_offset[at(end)] - a.group_tile_offset[at(group)]) +
         (a.window_row[at(w + 1)] - a.window_row[at(w)]);
}

constexpr std::int64_t kLeastPiece = 5 * 32;  ///< a shorter piece costs more in partial sums than it gains
constexpr std::int64_t kItemCost = 5 * 256;   ///< enough to hide how a block starts and ends
constexpr std::int64_t kItemsPerBlock = 8;    ///< enough to even out

/// Cuts a long window into pieces of equally many chunks.
void add_pieces(std::int32_t chunk, std::int32_t end, std::int64_t pieces, TallPlan& plan) {
  const auto count = std::min<std::int64_t>(pieces, end - chunk);
  const auto split = static_cast<std::int32_t>(plan.splits.size());
  plan.splits.push_back({plan.slots, static_cast<std::int32_t>(count)});
  const auto cut = [&](std::int64_t p) {
    return chunk + static_cast<std::int32_t>((end - chunk) * p / count);
  };
  for (std::int64_t p = 0; p < count; ++p) {
    plan.items.push_back({cut(p), cut(p + 1), plan.slots++, split});
    plan.chunks[at(cut(p + 1) - 1)].tile_and_last |= kTallLast;
  }
}

/// Long items first, in steps of two; equals keep their order, and so their neighbourhood in B.
void sort_items(TallPlan& plan, const std::vector<std::int64_t>& costs) {
  std::int64_t total = 0;
  for (const std::int64_t cost : costs) total += cost;
  const std::int64_t mean = std::max<std::int64_t>(total / std::max<std::int64_t>(std::ssize(costs), 1), 1);
  constexpr int kRanks = 64;
  const auto rank = [&](std::size_t i) {  // 0: the longest
    return kRanks - 1 - std::bit_width(static_cast<std::uint64_t>(costs[i] / mean));
  };
  std::array<std::size_t, kRanks + 1> next{};
  for (std::size_t i = 0; i < costs.size(); ++i) ++next[at(rank(i)) + 1];
  for (std::size_t r = 1; r < next.size(); ++r) next[r] += next[r - 1];
  std::vector<TallItem> sorted(plan.items.size());
  for (std::size_t i = 0; i < costs.size(); ++i) sorted[next[at(rank(i))]++] = plan.items[i];
  plan.items = std::move(sorted);
}

}  // namespace

TallStage tall_stage(int slice_segments, int chunk_tiles, int values_bytes) {
  TallStage stage{};
  stage.pitch = 128 * slice_segments + 16;
  stage.values_at = kTallChunkColumns * stage.pitch;
  stage.bitmaps_at = stage.values_at + (values_bytes > 0 ? round_up(values_bytes, 16) + 16 : 0);
  stage.offsets_at = stage.bitmaps_at + 8 * chunk_tiles + 16;
  stage.chunk_at = stage.offsets_at + round_up(4 * chunk_tiles, 16) + 16;
  stage.bytes = stage.chunk_at + static_cast<int>(sizeof(TallChunk));
  return stage;
}

TallPlan plan_tall(const formats::TallView& a, const TallCut& cut) {
  TallPlan plan;
  const std::vector<std::int32_t> first = count_chunks(a, cut.chunk_values);
  plan.chunks = make_chunks(a, cut.chunk_values, first);
  std::int64_t total = 0;
  for (std::int64_t w = 0; w < a.windows(); ++w) total += cost_of(a, w);
  const std::int64_t ideal = total * cut.slices / cut.blocks + 1;
  const std::int64_t limit = std::max(ideal, kLeastPiece);
  const std::int64_t target = std::min(kItemCost, ideal / kItemsPerBlock);

  std::vector<std::int64_t> costs;
  std::int64_t open = 0;  // cost of the item that still grows
  for (std::int64_t w = 0; w < a.windows(); ++w) {
    const std::int64_t cost = cost_of(a, w);
    const std::int32_t chunk = first[at(w)], end = first[at(w + 1)];
    if (cost > limit && end - chunk > 1) {
      const std::size_t before = plan.items.size();
      add_pieces(chunk, end, (cost + limit - 1) / limit, plan);
      costs.resize(plan.items.size(), cost / static_cast<std::int64_t>(plan.items.size() - before));
      open = 0;
      continue;
    }
    if (open == 0 || open + cost > target) {
      plan.items.push_back({chunk, chunk, -1, -1});
      costs.push_back(0);
      open = 0;
    }
    plan.items.back().end_chunk = end;
    costs.back() += cost;
    open += cost;
  }
  sort_items(plan, costs);
  return plan;
}

TallShape tall_shape(std::span<const TallVariant> variants, int height, std::int64_t row_bytes,
                     int most_segments) {
  TallShape shape{};
  shape.slice_segments = 1;
  while (shape.slice_segments < most_segments && 128 * shape.slice_segments < row_bytes)
    shape.slice_segments *= 2;
  const int sub_windows = std::max((height + 7) / 8, 1);
  // The last one that is no larger than the block: the more a warp owns, the fewer times entries are decoded;
  // but no less than 8 warps where there is work for them.
  shape.variant = -1;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const TallVariant& variant = variants[v];
    if (variant.segments > shape.slice_segments) continue;
    const int row_warps = (sub_windows + variant.sub_windows - 1) / variant.sub_windows;
    const int feature_warps = shape.slice_segments / variant.segments, warps = row_warps * feature_warps;
    if (warps > variant.warps) continue;
    if (shape.variant >= 0 && warps < 8) continue;
    shape.variant = static_cast<int>(v);
    shape.row_warps = row_warps;
    shape.feature_warps = feature_warps;
  }
  assert(shape.variant >= 0);
  return shape;
}

std::int64_t tall_slices(const TallShape& shape, std::int64_t row_bytes) {
  const std::int64_t slice_bytes = 128 * shape.slice_segments;
  return (row_bytes + slice_bytes - 1) / slice_bytes;
}

std::int64_t tall_least_row_bytes(const TallShape& shape, std::int64_t row_bytes) {
  const std::int64_t slice_bytes = 128 * shape.slice_segments;
  const std::int64_t other_slices = (tall_slices(shape, row_bytes) - 1) * slice_bytes;
  // Half a slice or less would be a slice of half the size.
  return std::max(other_slices, shape.slice_segments > 1 ? slice_bytes / 2 : 0) + 1;
}

namespace {

/// What is known before the matrix is cut.
struct TallFrame {
  TallHeader header;  ///< all but where the parts are
  TallCut cut;
  int warps = 0;                ///< consumers of a block
  std::int64_t slot_bytes = 0;  ///< of the sums of a piece, in one slice
};

TallFrame frame_tall(const ScheduleRequest& request, const TallFamily& family) {
  const formats::TallView a = formats::as_tall(request.format);
  const DeviceInfo& device = request.device;
  const std::int64_t row_bytes = request.n * family.element_bytes;
  int height = 8;
  for (std::int64_t w = 0; w < a.windows(); ++w)
    height = std::max(height, a.window_row[at(w + 1)] - a.window_row[at(w)]);
  TallFrame frame;
  TallHeader& header = frame.header;
  header.shape = tall_shape(family.variants, height, row_bytes, family.most_segments);
  const TallShape& shape = header.shape;
  const TallVariant& variant = family.variants[static_cast<std::size_t>(shape.variant)];
  frame.warps = shape.row_warps * shape.feature_warps;

  const int value_bytes = static_cast<int>(size_of(request.format.value_dtype()));
  header.chunk_tiles = kTallChunkGroups * ((height + 7) / 8);
  header.values_bytes = std::min(kTallValuesBytes, 64 * header.chunk_tiles * value_bytes);
  const TallStage stage = tall_stage(shape.slice_segments, header.chunk_tiles, header.values_bytes);
  // As many stages as fit beside the other blocks, but no more than hide the way from memory.
  const int blocks =
      std::clamp(variant.blocks * (variant.warps + kTallProducers) / (frame.warps + kTallProducers), 1, 8);
  constexpr int kReserved = 2 << 10;  // per block: barriers, and what the system takes
  const int room = static_cast<int>(device.shared_per_block) / blocks - kReserved;
  header.stages = std::clamp(room / stage.bytes, 2, 6);

  const std::int64_t slice_bytes = 128 * shape.slice_segments;
  const std::int64_t slices = tall_slices(shape, row_bytes);
  frame.cut = {.slices = slices,
               .blocks = std::int64_t{device.sm_count} * blocks,
               .chunk_values = value_bytes > 0 ? header.values_bytes / value_bytes : 1 << 30};
  frame.slot_bytes = std::int64_t{8 * variant.sub_windows * shape.row_warps} * slice_bytes *
                     family.sum_bytes / family.element_bytes;
  return frame;
}

}  // namespace

TallHeader append_tall(Schedule& schedule, const ScheduleRequest& request, const TallFamily& family) {
  const TallFrame frame = frame_tall(request, family);
  const TallPlan plan = plan_tall(formats::as_tall(request.format), frame.cut);
  TallHeader header = frame.header;
  header.chunks_at = append(schedule, plan.chunks);
  header.items_at = append(schedule, plan.items);
  header.item_count = std::ssize(plan.items);
  header.splits_at = append(schedule, plan.splits);
  header.split_count = std::ssize(plan.splits);
  if (plan.slots > 0)
    header.scratch = append_scratch(schedule, header.split_count * frame.cut.slices * frame.warps,
                                    plan.slots * frame.cut.slices * frame.slot_bytes);
  return header;
}

std::vector<std::int64_t> tall_numbers(const TallHeader& header) {
  return {header.item_count, header.split_count};
}

namespace {

/// Where pieces end inside of windows, a chunk is the last one, too. Counts those; -1 when another thing
/// differs from what the chunk must be.
std::int64_t compare_chunks(const formats::TallView& a, int most_values,
                            const std::vector<std::int32_t>& first, std::span<const TallChunk> chunks) {
  std::int64_t extra = 0;
  bool same = true;
#pragma omp parallel for schedule(static) num_threads(most_threads()) reduction(&& : same) reduction(+ : extra)
  for (std::int64_t w = 0; w < a.windows(); ++w) {
    std::size_t number = at(first[at(w)]);
    for_each_chunk(a, w, most_values, [&](std::int64_t group, std::int64_t end) {
      TallChunk wanted = make_chunk(a, w, group, end);
      const TallChunk& chunk = chunks[number++];
      if (chunk.tile_and_last == (wanted.tile_and_last | kTallLast)) {
        extra += chunk.tile_and_last != wanted.tile_and_last ? 1 : 0;
        wanted.tile_and_last |= kTallLast;
      }
      same = same && chunk == wanted;
    });
  }
  return same ? extra : -1;
}

/// Finds the window that begins with a chunk; -1 when there is none.
std::int64_t window_at(const std::vector<std::int32_t>& first, std::int32_t chunk) {
  const auto found = std::lower_bound(first.begin(), first.end(), chunk);
  return found != first.end() && *found == chunk ? found - first.begin() : -1;
}

/// Finds the item of each slot; the owners of chunks are those of whole windows. -1: there is none.
std::vector<std::int64_t> check_runs(ScheduleReader& reader, const std::vector<std::int32_t>& first,
                                     std::span<const TallItem> items, std::int64_t slots, Owners& owners) {
  std::vector<std::int64_t> piece(at(slots), -1);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const TallItem& item = items[i];
    if (item.slot >= 0 && item.slot < slots && piece[at(item.slot)] < 0) {
      piece[at(item.slot)] = static_cast<std::int64_t>(i);
      continue;
    }
    const bool whole = item.slot == -1 && item.split == -1 && item.chunk < item.end_chunk &&
                       window_at(first, item.chunk) >= 0 && window_at(first, item.end_chunk) >= 0;
    if (!reader.require(whole && owners.take(item.chunk, item.end_chunk), "an item is not of whole windows"))
      break;
  }
  return piece;
}

/// Proves that the pieces of each split are those of one window, in order; gives how many end inside one.
std::int64_t check_pieces(ScheduleReader& reader, const std::vector<std::int32_t>& first,
                          std::span<const TallItem> items, std::span<const TallSplit> splits,
                          std::span<const TallChunk> chunks, const std::vector<std::int64_t>& piece,
                          Owners& owners) {
  std::int64_t slot = 0, inside = 0;
  for (std::size_t s = 0; s < splits.size() && reader.ok(); ++s) {
    const TallSplit& split = splits[s];
    const bool placed =
        split.first_slot == slot && split.pieces > 0 && split.pieces <= std::ssize(piece) - slot;
    if (!reader.require(placed, "a window's pieces are not where they should be")) break;
    std::int64_t window = -1;
    std::int32_t chunk = 0;
    for (std::int32_t p = 0; p < split.pieces; ++p, ++slot) {
      const std::int64_t number = piece[at(slot)];
      if (!reader.require(number >= 0, "a piece is missing")) return 0;
      const TallItem& item = items[at(number)];
      if (p == 0) {
        chunk = item.chunk;
        window = window_at(first, chunk);
      }
      const bool next = window >= 0 && window + 1 < std::ssize(first) && item.chunk == chunk &&
                        item.end_chunk > chunk && item.end_chunk <= first[at(window + 1)] &&
                        std::cmp_equal(item.split, s) && owners.take(item.chunk, item.end_chunk);
      if (!reader.require(next, "a piece is not the next of its window")) return 0;
      chunk = item.end_chunk;
      reader.require((chunks[at(chunk - 1)].tile_and_last & kTallLast) != 0, "a piece does not end");
    }
    reader.require(chunk == first[at(window + 1)], "a window's pieces do not end with it");
    inside += split.pieces - 1;
  }
  reader.require(slot == std::ssize(piece), "a piece is of no window");
  return inside;
}

}  // namespace

TallHeader read_tall(ScheduleReader& reader, Schedule& schedule, const ScheduleRequest& request,
                     const TallFamily& family) {
  const formats::TallView a = formats::as_tall(request.format);
  const TallFrame frame = frame_tall(request, family);
  const std::vector<std::int32_t> first = count_chunks(a, frame.cut.chunk_values);
  TallHeader header = frame.header;
  header.item_count = reader.number(first.back());
  header.split_count = reader.number(a.windows());
  const auto chunks = reader.part<TallChunk>(first.back(), header.chunks_at);
  const auto items = reader.part<TallItem>(header.item_count, header.items_at);
  const auto splits = reader.part<TallSplit>(header.split_count, header.splits_at);
  if (!reader.ok()) return header;
  Owners owners(first.back());
  const std::int64_t slots =
      std::count_if(items.begin(), items.end(), [](const TallItem& item) { return item.slot >= 0; });
  const auto piece = check_runs(reader, first, items, slots, owners);
  const std::int64_t inside = check_pieces(reader, first, items, splits, chunks, piece, owners);
  reader.require(owners.complete(), "a chunk is no item's work");
  reader.require(compare_chunks(a, frame.cut.chunk_values, first, chunks) == inside,
                 "a chunk is not as the matrix has it");
  if (slots > 0)
    header.scratch = read_scratch(reader, schedule, {header.split_count * frame.cut.slices, frame.warps},
                                  {slots, frame.cut.slices * frame.slot_bytes});
  return header;
}

}  // namespace sptile::runtime::cuda
