// How a product with tall windows is cut: chunks of groups that a block stages at a time, items that a block
// works through, pieces of long windows. Plain C++, shared by host and device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/layout/tall.hpp"
#include "runtime/cuda/device/qualifiers.hpp"
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/families/tall/policy.hpp"
#include "runtime/cuda/stored_schedule.hpp"

namespace sptile::runtime::cuda {

inline constexpr int kTallChunkGroups = kTallPolicy.chunk_groups;
inline constexpr int kTallChunkColumns = 8 * kTallChunkGroups;  ///< one per lane of the producer
inline constexpr int kTallProducers = kTallPolicy.producers;
inline constexpr int kTallWriters = kTallPolicy.writers;
inline constexpr int kTallDenseChunks = kTallPolicy.dense_chunks;
inline constexpr int kTallChunkTiles = kTallChunkGroups * formats::kTallMaxSubWindows;

/// Up to four neighbouring groups of a window: what one stage of the pipeline holds. Consumers read it from
/// shared memory.
struct alignas(16) TallChunk {
  std::uint32_t tile_and_last;  ///< first tile; bit 31: the last chunk of its window or piece
  std::uint32_t value;          ///< first entry
  std::int32_t group;           ///< first group
  std::uint8_t groups, tiles;
  std::uint16_t rows;  ///< of the window
  std::int32_t row;    ///< first of the window
  std::uint32_t values;
  std::uint32_t unused[2];
  /// Which tile of the chunk a sub-window has in each group, so that its warp need not count bits of masks.
  std::uint8_t place[formats::kTallMaxSubWindows][kTallChunkGroups];
  friend bool operator==(const TallChunk&, const TallChunk&) = default;
};
static_assert(sizeof(TallChunk) == 96);
inline constexpr std::uint8_t kTallNoTile = 0xff;
inline constexpr std::uint32_t kTallLast = 1u << 31;

/// What one block works through: neighbouring chunks. Its first and its last window may be pieces of windows
/// that other blocks work on, too: their sums go to slots, those of whole windows to C.
struct alignas(16) TallItem {
  std::int32_t chunk, end_chunk;
  std::int32_t head;  ///< slot of the first window; -1: it is whole
  std::int32_t tail;  ///< slot of the last window, where that is another one; -1: it is whole
  friend bool operator==(const TallItem&, const TallItem&) = default;
};

/// What a slot belongs to: a window in `count` pieces, which have neighbouring slots, in order. Whoever
/// brings the last one adds them.
struct alignas(8) TallPiece {
  std::int32_t first_slot, count;
  friend bool operator==(const TallPiece&, const TallPiece&) = default;
};

/// What a block of a kernel looks like. A segment is the 128 bytes of a row of B that 8 groups of lanes read
/// at once.
struct TallShape {
  int variant;         ///< which kernel of the family
  int slice_segments;  ///< of the row of B that a block stages
  int row_warps, feature_warps;
};

/// A kernel of a family: sub-windows and segments that one of its warps owns, and how many blocks of how many
/// consumer warps its registers allow on a multiprocessor.
struct TallVariant {
  int sub_windows, segments;
  int warps;   ///< most consumer warps of a block
  int blocks;  ///< of that size on a multiprocessor
};

/// Bytes of the parts of a stage, each a multiple of 16, in this order: rows of B, values, bitmaps, value
/// offsets, places of entries, chunk. Pieces of 16 bytes are copied, so parts have room for what stands
/// around them.
struct TallStage {
  int pitch;  ///< from one row of B to the next: 16 bytes more than a row, see tall_lanes.hpp
  int values_at, bitmaps_at, offsets_at, places_at, chunk_at, bytes;
};
SPTILE_HOST_DEVICE constexpr int tall_pitch(int slice_segments) { return 128 * slice_segments + 16; }
/// What a stage has room for: tiles with their bitmaps, or the places of entries.
struct TallRoom {
  int slice_segments, values_bytes;
  int tiles = 0, places = 0;
};
TallStage tall_stage(const TallRoom& room);

/// Most bytes of values in a chunk.
inline constexpr int kTallValuesBytes = kTallPolicy.values_bytes;
/// The same beside dense tiles, which leave less room.
constexpr int tall_dense_values_bytes(int height) {
  return kTallPolicy.dense_values_bytes + kTallPolicy.dense_values_row_bytes * height;
}

struct TallPlan {
  std::vector<TallChunk> chunks;
  std::vector<TallItem> items;
  std::vector<TallPiece> pieces;  ///< of each slot
};

/// How finely to cut.
struct TallCut {
  std::int64_t slices = 1;     ///< of the columns of B; each repeats all items
  std::int64_t blocks = 1;     ///< that run at once
  int chunk_values = 1 << 30;  ///< most entries of a chunk; at least those of one group
  /// True: a block works on one equal share of the matrix, all at the same time. False: on runs of windows,
  /// one after another, so that blocks that run together are neighbours and find each other's rows of B in
  /// the second cache.
  bool equal_shares = false;
  /// What multiplying a tile costs, in fifths of the time of a group.
  int tile_cost = 1;
};

/// Cuts a checked matrix. Every chunk is in exactly one item; a window without groups has one empty chunk, so
/// that its rows are written.
TallPlan plan_tall(const formats::TallView& a, const TallCut& cut);

/// What launching reads; `..._at` are offsets in Schedule::bytes.
struct TallHeader {
  std::int64_t chunks_at = 0;
  std::int64_t items_at = 0, item_count = 0;
  std::int64_t pieces_at = 0, piece_count = 0;
  std::int64_t places_at = 0;  ///< of entries in dense tiles, where the family has those
  ScheduleScratch scratch;
  TallShape shape;
  int stages = 0;
  TallRoom room;        ///< of a stage
  int dense_bytes = 0;  ///< of the dense tiles of a chunk
};

/// Slices of rows of B of `row_bytes`.
std::int64_t tall_slices(const TallShape& shape, std::int64_t row_bytes);

/// A kernel family.
struct TallFamily {
  int element_bytes, sum_bytes;
  int least_segments = 1, most_segments;  ///< of 128 bytes, of slices of a row of B
  std::span<const TallVariant> variants;
  /// Tiles are multiplied as dense ones by a warpgroup, all of a chunk at once, and entries are told their
  /// places there.
  bool dense = false;
};

/// Chooses the variant and shape for windows of `height` rows at most and rows of B of `row_bytes`.
TallShape tall_shape(const TallFamily& family, int height, std::int64_t row_bytes);

/// Least row of B that would be cut like one of `row_bytes`.
std::int64_t tall_least_row_bytes(const TallFamily& family, const TallShape& shape, std::int64_t row_bytes);

/// Where the entries of a matrix go in the dense tiles of their chunks, in elements (tall_dense_at).
std::vector<std::uint16_t> tall_places(const formats::TallView& a, std::span<const TallChunk> chunks,
                                       int sub_windows);

/// Divides a product of at most request.n columns.
TallHeader append_tall(Schedule& schedule, const ScheduleRequest& request, const TallFamily& family);

/// What is stored of a header.
inline constexpr std::uint32_t kTallVersion = 2;
std::vector<std::int64_t> tall_numbers(const TallHeader& header);

/// Reads back what append_tall appended, and proves that every chunk is as it must be and the work of one
/// item, and that slots are as they follow from where items begin and end.
TallHeader read_tall(ScheduleReader& reader, Schedule& schedule, const ScheduleRequest& request,
                     const TallFamily& family);

}  // namespace sptile::runtime::cuda
