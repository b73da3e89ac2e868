#include "runtime/cuda/families/tall/schedule.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <utility>

#include "runtime/cuda/families/tall/lanes.hpp"
#include "runtime/threads/count.hpp"

namespace sptile::runtime::cuda {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

int round_up(int bytes, int to) { return (bytes + to - 1) / to * to; }

/// Returns the entries of a range of groups.
std::int64_t entries(const formats::TallView& a, std::int64_t group, std::int64_t end) {
  const auto before = [&](std::int64_t g) { return a.value_offset[at(a.group_tile_offset[at(g)])]; };
  return std::int64_t{before(end)} - before(group);
}

/// Returns the end of the chunk that starts at `group`.
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
  std::memset(chunk.place, kTallNoTile, sizeof chunk.place);
  for (std::int64_t g = group; g < end; ++g) {
    std::int32_t place = a.group_tile_offset[at(g)] - tile;
    for (std::uint32_t mask = a.group_mask[at(g)]; mask != 0; mask &= mask - 1)
      chunk.place[std::countr_zero(mask)][g - group] = static_cast<std::uint8_t>(place++);
  }
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

/// Counts chunks. Returns the first of each window, and their number.
std::vector<std::int32_t> count_chunks(const formats::TallView& a, int most_values) {
  const std::int64_t windows = a.windows();
  std::vector<std::int32_t> first(at(windows) + 1);
#pragma omp parallel for schedule(static) num_threads(max_threads())
  for (std::int64_t w = 0; w < windows; ++w)
    for_each_chunk(a, w, most_values, [&](std::int64_t, std::int64_t) { ++first[at(w) + 1]; });
  for (std::size_t w = 1; w < first.size(); ++w) first[w] += first[w - 1];
  return first;
}

/// Creates the counted chunks.
std::vector<TallChunk> make_chunks(const formats::TallView& a, int most_values,
                                   const std::vector<std::int32_t>& first) {
  std::vector<TallChunk> chunks(at(first.back()));
#pragma omp parallel for schedule(static) num_threads(max_threads())
  for (std::int64_t w = 0; w < a.windows(); ++w) {
    TallChunk* to = chunks.data() + first[at(w)];
    for_each_chunk(a, w, most_values,
                   [&](std::int64_t group, std::int64_t end) { *to++ = make_chunk(a, w, group, end); });
  }
  return chunks;
}

/// Returns the cost of a chunk, in fifths of the time of a group: rows of B are loaded from L2, tiles read
/// theirs from shared memory five times as fast, and rows of C are stored to memory.
std::int64_t cost_of(const TallChunk& chunk, int tile_cost) {
  const std::int64_t stored = (chunk.tile_and_last & kTallLast) != 0 ? chunk.rows : 0;
  return std::max<std::int64_t>(5 * std::int64_t{chunk.groups} + tile_cost * chunk.tiles + stored, 1);
}

/// Returns the cumulative cost before each chunk, and the total.
std::vector<std::int64_t> add_costs(std::span<const TallChunk> chunks, int tile_cost) {
  std::vector<std::int64_t> before(chunks.size() + 1);
  for (std::size_t c = 0; c < chunks.size(); ++c) before[c + 1] = before[c] + cost_of(chunks[c], tile_cost);
  return before;
}

/// Creates runs of windows that cost about `target`, which blocks take one by one. A window of more than
/// `longest` is split into pieces with equal numbers of chunks.
std::vector<TallItem> make_runs(std::span<const std::int64_t> before, std::span<const std::int32_t> first,
                                std::int64_t target, std::int64_t longest) {
  std::vector<TallItem> items;
  bool open = false;  // the latest run may grow
  for (std::size_t w = 0; w + 1 < first.size(); ++w) {
    const std::int64_t begin = first[w], chunks = first[w + 1] - begin;
    const std::int64_t cost = before[at(begin + chunks)] - before[at(begin)];
    const std::int64_t pieces = std::clamp<std::int64_t>((cost + longest - 1) / longest, 1, chunks);
    if (open && pieces <= 1 && before[at(begin + chunks)] - before[at(items.back().chunk)] <= target) {
      items.back().end_chunk = first[w + 1];
      continue;
    }
    for (std::int64_t p = 0; p < pieces; ++p)
      items.push_back({static_cast<std::int32_t>(begin + chunks * p / pieces),
                       static_cast<std::int32_t>(begin + chunks * (p + 1) / pieces), -1, -1});
    open = pieces <= 1;
  }
  return items;
}

/// Creates equal shares for blocks that all run concurrently. Shares end within a window if necessary, and at
/// its edge if that is near.
std::vector<TallItem> make_shares(std::span<const std::int64_t> before, std::span<const std::int32_t> first,
                                  std::int64_t shares) {
  std::vector<TallItem> items;
  const std::int64_t total = before.back(), near = total / shares / 16;
  std::int32_t begin = 0;
  for (std::int64_t s = 1; s <= shares; ++s) {
    const std::int64_t cost = total / shares * s + total % shares * s / shares;
    auto end =
        static_cast<std::int32_t>(std::lower_bound(before.begin(), before.end(), cost) - before.begin());
    const auto edge = std::lower_bound(first.begin(), first.end(), end);
    for (const auto e : {edge, edge == first.begin() ? edge : edge - 1})
      if (std::abs(before[at(*e)] - cost) <= near) end = *e;
    if (s == shares) end = first.back();
    if (end <= begin) continue;
    items.push_back({begin, end, -1, -1});
    begin = end;
  }
  return items;
}

/// Assigns slots to the ordered items: every split window has one per piece.
std::vector<TallPiece> number_pieces(std::span<TallItem> items, std::span<const std::int32_t> first) {
  std::vector<TallPiece> pieces;
  std::int64_t last_window = -1;  // window of the latest piece
  const auto add = [&](std::int64_t window) {
    const auto slot = static_cast<std::int32_t>(pieces.size());
    const std::int32_t first_slot = window == last_window ? pieces.back().first_slot : slot;
    last_window = window;
    pieces.push_back({first_slot, 0});
    return slot;
  };
  for (TallItem& item : items) {
    const auto window_of = [&](std::int32_t chunk) {
      return std::upper_bound(first.begin(), first.end(), chunk) - first.begin() - 1;
    };
    const std::int64_t head = window_of(item.chunk), tail = window_of(item.end_chunk - 1);
    const bool begins = first[at(head)] == item.chunk, ends = first[at(tail + 1)] == item.end_chunk;
    item.head = !begins || (head == tail && !ends) ? add(head) : -1;
    item.tail = head != tail && !ends ? add(tail) : -1;
  }
  for (std::size_t slot = pieces.size(); slot-- > 0;) {
    const auto begin = at(pieces[slot].first_slot);
    if (pieces[begin].count == 0) pieces[begin].count = static_cast<std::int32_t>(slot - begin + 1);
    pieces[slot].count = pieces[begin].count;
  }
  return pieces;
}

/// Sorts long items first, in powers of two. The order of equal items, and thus their locality in B, is kept.
void sort_items(std::vector<TallItem>& items, std::span<const std::int64_t> before) {
  if (items.empty()) return;
  const std::int64_t mean = std::max<std::int64_t>(before.back() / std::ssize(items), 1);
  std::stable_sort(items.begin(), items.end(), [&](const TallItem& a, const TallItem& b) {
    const auto rank = [&](const TallItem& item) {
      return std::bit_width(
          static_cast<std::uint64_t>((before[at(item.end_chunk)] - before[at(item.chunk)]) / mean));
    };
    return rank(a) > rank(b);
  });
}

/// Returns the items of each block.
std::vector<TallItem> divide(std::span<const std::int64_t> before, std::span<const std::int32_t> first,
                             const TallCut& cut) {
  const std::int64_t total = before.back(), share = total * cut.slices / cut.blocks + 1;
  if (!cut.equal_shares)
    return make_runs(before, first,
                     std::min<std::int64_t>(kTallPolicy.item_cost, share / kTallPolicy.items_per_block),
                     std::max<std::int64_t>(share, kTallPolicy.min_piece_cost));
  const std::int64_t most = std::max<std::int64_t>(total / kTallPolicy.min_piece_cost, 1);
  return make_shares(before, first, std::clamp<std::int64_t>(cut.blocks / cut.slices, 1, most));
}

}  // namespace

TallStage tall_stage(const TallWorkspace& room) {
  const auto bytes = [](int wanted) { return wanted > 0 ? round_up(wanted, 16) + 16 : 0; };
  TallStage stage{};
  stage.pitch = room.swizzled ? kTallSegmentBytes * room.slice_segments : tall_pitch(room.slice_segments);
  stage.values_at = kTallChunkColumns * stage.pitch;
  stage.bitmaps_at = stage.values_at + bytes(room.values_bytes);
  stage.offsets_at = stage.bitmaps_at + bytes(8 * room.tiles);
  stage.places_at = stage.offsets_at + bytes(4 * room.tiles);
  stage.chunk_at = stage.places_at + bytes(2 * room.places);
  stage.bytes = stage.chunk_at + static_cast<int>(sizeof(TallChunk));
  if (room.swizzled) stage.bytes = round_up(stage.bytes, kSwizzledBytes);
  return stage;
}

TallPlan plan_tall(const formats::TallView& a, const TallCut& cut) {
  TallPlan plan;
  const std::vector<std::int32_t> first = count_chunks(a, cut.chunk_values);
  plan.chunks = make_chunks(a, cut.chunk_values, first);
  const std::vector<std::int64_t> before = add_costs(plan.chunks, cut.tile_cost);
  plan.items = divide(before, first, cut);
  plan.pieces = number_pieces(plan.items, first);
  for (const TallItem& item : plan.items) plan.chunks[at(item.end_chunk - 1)].tile_and_last |= kTallLast;
  sort_items(plan.items, before);
  return plan;
}

namespace {

/// Chooses the smallest variant with dense tiles for the windows, and of those the smallest that needs one
/// slice, or else the largest.
TallShape dense_shape(const TallFamily& family, int sub_windows, std::int64_t row_bytes) {
  TallShape shape{};
  shape.variant = -1;
  for (std::size_t v = 0; v < family.variants.size(); ++v) {
    const TallVariant& variant = family.variants[v];
    if (variant.sub_windows < sub_windows) continue;
    if (shape.variant >= 0) {
      const TallVariant& best = family.variants[static_cast<std::size_t>(shape.variant)];
      if (variant.sub_windows > best.sub_windows || kTallSegmentBytes * best.segments >= row_bytes) break;
    }
    shape = {static_cast<int>(v), variant.segments, 1, variant.warps};
  }
  assert(shape.variant >= 0);
  return shape;
}

}  // namespace

TallShape tall_shape(const TallFamily& family, int height, std::int64_t row_bytes) {
  const std::span<const TallVariant> variants = family.variants;
  if (family.dense) return dense_shape(family, (height + 7) / 8, row_bytes);
  TallShape shape{};
  shape.slice_segments = family.least_segments;
  while (shape.slice_segments < family.most_segments && 128 * shape.slice_segments < row_bytes)
    shape.slice_segments *= 2;
  const int sub_windows = std::max((height + 7) / 8, 1);
  // Chooses the last variant that does not exceed the block, because a warp that owns more decodes entries
  // fewer times, but at least 8 warps if there is work for them.
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

std::int64_t tall_least_row_bytes(const TallFamily& family, const TallShape& shape, std::int64_t row_bytes) {
  const std::int64_t slice_bytes = 128 * shape.slice_segments;
  const std::int64_t other_slices = (tall_slices(shape, row_bytes) - 1) * slice_bytes;
  // Narrower rows that fit the slice of a smaller variant, or half a slice, would use it.
  std::int64_t smaller = shape.slice_segments > family.least_segments ? slice_bytes / 2 : 0;
  if (family.dense) {
    const auto v = static_cast<std::size_t>(shape.variant);
    const std::span<const TallVariant> variants = family.variants;
    const bool has_smaller = v > 0 && variants[v - 1].sub_windows == variants[v].sub_windows;
    smaller = has_smaller ? kTallSegmentBytes * variants[v - 1].segments : 0;
  }
  return std::max(other_slices, smaller) + 1;
}

std::vector<std::uint16_t> tall_places(const formats::TallView& a, std::span<const TallChunk> chunks,
                                       int sub_windows, int element_bytes) {
  // padded to full units
  std::vector<std::uint16_t> places(at((std::int64_t{a.value_offset.back()} + 7) / 8 * 8));
#pragma omp parallel for schedule(static) num_threads(max_threads())
  for (std::int64_t c = 0; c < std::ssize(chunks); ++c) {
    const TallChunk& chunk = chunks[at(c)];
    for (int g = 0; g < chunk.groups; ++g) {
      std::int64_t tile = a.group_tile_offset[at(chunk.group + g)];
      const std::int64_t end = a.group_tile_offset[at(chunk.group + g + 1)];
      // Bitmaps and masks that contradict the offsets must not cause accesses outside the arrays.
      for (std::uint32_t mask = a.group_mask[at(chunk.group + g)]; mask != 0 && tile < end;
           mask &= mask - 1) {
        std::uint32_t to = a.value_offset[at(tile)];
        for (std::uint64_t bits = a.bitmap[at(tile)]; bits != 0 && to < a.value_offset[at(tile + 1)];
             bits &= bits - 1) {
          const int bit = std::countr_zero(bits);
          places[to++] = static_cast<std::uint16_t>(
              tall_dense_at(element_bytes, g, std::countr_zero(mask), sub_windows, bit / 8, bit % 8));
        }
        ++tile;
      }
    }
  }
  return places;
}

namespace {

/// Parameters that are chosen before the matrix is divided.
struct TallFrame {
  TallHeader header;  ///< without the offsets of the parts
  TallCut cut;
  int warps = 0;                ///< consumer warps per block
  std::int64_t slot_bytes = 0;  ///< bytes of the sums of a piece, in one slice
};

/// Equal shares leave no block waiting for the last ones. But their blocks are far from each other, which
/// costs if B exceeds L2 and windows share most columns with their neighbours.
bool shares_pay(const formats::TallView& a, std::int64_t row_bytes, const DeviceInfo& device) {
  const std::int64_t fetched = 8 * std::ssize(a.group_mask);
  return row_bytes <= static_cast<std::int64_t>(device.l2_bytes) / std::max<std::int64_t>(a.cols, 1) ||
         fetched <= kTallPolicy.often_fetched * a.cols;
}

int sub_windows_of(const TallFamily& family, const TallHeader& header) {
  return family.variants[static_cast<std::size_t>(header.shape.variant)].sub_windows;
}

TallFrame frame_tall(const ScheduleRequest& request, const TallFamily& family) {
  const formats::TallView a = formats::as_tall(request.format);
  const DeviceInfo& device = request.device;
  const std::int64_t row_bytes = request.n * family.element_bytes;
  int height = 8;
  for (std::int64_t w = 0; w < a.windows(); ++w)
    height = std::max(height, a.window_row[at(w + 1)] - a.window_row[at(w)]);
  TallFrame frame;
  TallHeader& header = frame.header;
  header.shape = tall_shape(family, height, row_bytes);
  const TallShape& shape = header.shape;
  const TallVariant& variant = family.variants[static_cast<std::size_t>(shape.variant)];
  frame.warps = shape.row_warps * shape.feature_warps;

  const int value_bytes = static_cast<int>(size_of(request.format.value_dtype()));
  const int tiles = kTallChunkGroups * ((height + 7) / 8);
  header.room.slice_segments = shape.slice_segments;
  header.room.swizzled = family.swizzled();
  int most_values = value_bytes > 0 ? kTallValuesBytes / value_bytes : 1 << 30;
  if (family.dense) {
    most_values = tall_dense_values(height);
    header.room.places = std::min(most_values, 64 * tiles);
    header.dense_bytes = kTallChunkGroups * 64 * family.element_bytes * variant.sub_windows;
  } else {
    header.room.tiles = tiles;
  }
  most_values = std::min(most_values, 64 * tiles);
  header.room.values_bytes = most_values * value_bytes;
  const TallStage stage = tall_stage(header.room);
  // Uses all stages that fit next to the other blocks, but no more than hide the memory latency.
  const int blocks =
      std::clamp(variant.blocks * (variant.warps + kTallProducers) / (frame.warps + kTallProducers), 1, 8);
  constexpr int kReserved = 2 << 10;  // bytes per block for barriers and the system
  const int room =
      static_cast<int>(device.shared_per_block) / blocks - kReserved - kTallDenseChunks * header.dense_bytes;
  header.stages = std::clamp(room / stage.bytes, kTallPolicy.min_stages, kTallPolicy.max_stages);

  const std::int64_t slice_bytes = 128 * shape.slice_segments;
  const std::int64_t slices = tall_slices(shape, row_bytes);
  frame.cut = {.slices = slices,
               .blocks = std::int64_t{device.sm_count} * blocks,
               .chunk_values = most_values,
               .equal_shares = shares_pay(a, row_bytes, device),
               .tile_cost = family.dense ? 0 : 1};
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
  header.pieces_at = append(schedule, plan.pieces);
  header.piece_count = std::ssize(plan.pieces);
  if (family.dense)
    header.places_at = append(schedule, tall_places(formats::as_tall(request.format), plan.chunks,
                                                    sub_windows_of(family, header), family.element_bytes));
  if (header.piece_count > 0)
    header.scratch = append_scratch(schedule, header.piece_count * frame.cut.slices * frame.warps,
                                    header.piece_count * frame.cut.slices * frame.slot_bytes);
  return header;
}

std::vector<std::int64_t> tall_numbers(const TallHeader& header) {
  return {header.item_count, header.piece_count};
}

namespace {

/// Returns whether every chunk is valid. Items end where `ends` is set; their last chunks are marked.
bool are_chunks(const formats::TallView& a, int most_values, const std::vector<std::int32_t>& first,
                std::span<const TallChunk> chunks, const std::vector<bool>& ends) {
  bool same = true;
#pragma omp parallel for schedule(static) num_threads(max_threads()) reduction(&& : same)
  for (std::int64_t w = 0; w < a.windows(); ++w) {
    std::size_t number = at(first[at(w)]);
    for_each_chunk(a, w, most_values, [&](std::int64_t group, std::int64_t end) {
      TallChunk wanted = make_chunk(a, w, group, end);
      if (ends[number]) wanted.tile_and_last |= kTallLast;
      same = same && chunks[number++] == wanted;
    });
  }
  return same;
}

/// Checks that items contain each chunk once, and that their slots are those of number_pieces.
void check_items(ScheduleReader& reader, std::span<const std::int32_t> first, std::span<const TallItem> items,
                 std::span<const TallPiece> pieces, std::vector<bool>& ends) {
  Owners owners(first.back());
  bool once = true;
  for (const TallItem& item : items) {
    once = once && item.chunk < item.end_chunk && owners.take(item.chunk, item.end_chunk);
    if (once) ends[at(item.end_chunk - 1)] = true;
  }
  if (!reader.require(once && owners.complete(), "a chunk is not assigned to exactly one item")) return;
  std::vector<TallItem> sorted(items.begin(), items.end());
  const auto earlier = [](const TallItem& x, const TallItem& y) { return x.chunk < y.chunk; };
  std::sort(sorted.begin(), sorted.end(), earlier);
  std::vector<TallItem> wanted = sorted;
  const std::vector<TallPiece> numbered = number_pieces(wanted, first);
  reader.require(sorted == wanted && std::ranges::equal(numbered, pieces),
                 "a slot does not match its segment");
}

}  // namespace

TallHeader read_tall(ScheduleReader& reader, Schedule& schedule, const ScheduleRequest& request,
                     const TallFamily& family) {
  const formats::TallView a = formats::as_tall(request.format);
  const TallFrame frame = frame_tall(request, family);
  const std::vector<std::int32_t> first = count_chunks(a, frame.cut.chunk_values);
  TallHeader header = frame.header;
  header.item_count = reader.number(first.back());
  header.piece_count = reader.number(2 * std::int64_t{first.back()});
  const auto chunks = reader.part<TallChunk>(first.back(), header.chunks_at);
  const auto items = reader.part<TallItem>(header.item_count, header.items_at);
  const auto pieces = reader.part<TallPiece>(header.piece_count, header.pieces_at);
  if (!reader.ok()) return header;
  std::vector<bool> ends(at(first.back()));
  check_items(reader, first, items, pieces, ends);
  reader.require(are_chunks(a, frame.cut.chunk_values, first, chunks, ends),
                 "a chunk does not match the matrix");
  if (family.dense && reader.ok())
    reader.expect(tall_places(a, chunks, sub_windows_of(family, header), family.element_bytes),
                  header.places_at, "an entry has no position");
  if (header.piece_count > 0)
    header.scratch = read_scratch(reader, schedule, {header.piece_count * frame.cut.slices, frame.warps},
                                  {header.piece_count, frame.cut.slices * frame.slot_bytes});
  return header;
}

}  // namespace sptile::runtime::cuda
