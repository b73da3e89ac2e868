// Division of a product with tall windows: chunks of groups that a block stages at a time, items of a block,
// pieces of long windows. Plain C++, shared by host and device.
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

/// Up to four consecutive groups of a window: one stage of the pipeline. Consumers read it from shared
/// memory.
struct alignas(16) TallChunk {
  std::uint32_t tile_and_last;  ///< first tile; bit 31: the last chunk of its window or piece
  std::uint32_t value;          ///< first entry
  std::int32_t group;           ///< first group
  std::uint8_t groups, tiles;
  std::uint16_t rows;  ///< rows of the window
  std::int32_t row;    ///< first row of the window
  std::uint32_t values;
  std::uint32_t unused[2];
  /// Index of a sub-window's tile in each group of the chunk, so that its warp need not count bits of masks.
  std::uint8_t place[formats::kTallMaxSubWindows][kTallChunkGroups];
  friend bool operator==(const TallChunk&, const TallChunk&) = default;
};
static_assert(sizeof(TallChunk) == 96);
inline constexpr std::uint8_t kTallNoTile = 0xff;
inline constexpr std::uint32_t kTallLast = 1u << 31;

/// Work of one block: consecutive chunks. Its first and last window may be pieces of windows that are shared
/// with other blocks: their sums are stored in slots, those of complete windows in C.
struct alignas(16) TallItem {
  std::int32_t chunk, end_chunk;
  std::int32_t head;  ///< slot of the first window; -1: it is complete
  std::int32_t tail;  ///< slot of the last window, if it is another one; -1: it is complete
  friend bool operator==(const TallItem&, const TallItem&) = default;
};

/// Window of a slot: it has `count` pieces with consecutive slots, in order. The block that finishes the last
/// one adds them.
struct alignas(8) TallPiece {
  std::int32_t first_slot, count;
  friend bool operator==(const TallPiece&, const TallPiece&) = default;
};

/// Shape of a kernel's blocks. A segment is the 128 bytes of a row of B that 8 groups of lanes read at once.
struct TallShape {
  int variant;         ///< kernel of the family
  int slice_segments;  ///< segments of a row of B that a block stages
  int row_warps, feature_warps;
};

/// A kernel of a family: sub-windows and segments per warp, or per block if tiles are dense, and the number
/// and size of blocks that its registers permit on a multiprocessor.
struct TallVariant {
  int sub_windows, segments;
  int warps;   ///< maximum consumer warps of a block
  int blocks;  ///< blocks of that size per multiprocessor
};

/// Offsets of the parts of a stage in bytes, multiples of 16, in this order: rows of B, values, bitmaps,
/// value offsets, places of entries, chunk. Copies have units of 16 bytes, so parts include space for
/// adjacent data.
struct TallStage {
  int pitch;  ///< distance between rows of B: 16 bytes more than a row, or a row if swizzled, see lanes.hpp
  int values_at, bitmaps_at, offsets_at, places_at, chunk_at, bytes;
};
SPTILE_HOST_DEVICE constexpr int tall_pitch(int slice_segments) { return 128 * slice_segments + 16; }
/// Capacity of a stage: tiles with their bitmaps, or places of entries.
struct TallWorkspace {
  int slice_segments, values_bytes;
  int tiles = 0, places = 0;
  bool swizzled = false;  ///< rows of B are operands of wgmma; the size is a multiple of kSwizzledBytes
};
TallStage tall_stage(const TallWorkspace& room);

/// Maximum bytes of values in a chunk.
inline constexpr int kTallValuesBytes = kTallPolicy.values_bytes;
/// Maximum entries of a chunk of a kernel with dense tiles, which need more shared memory.
constexpr int tall_dense_values(int height) {
  return kTallPolicy.dense_values + kTallPolicy.dense_values_per_row * height;
}

struct TallPlan {
  std::vector<TallChunk> chunks;
  std::vector<TallItem> items;
  std::vector<TallPiece> pieces;  ///< by slot
};

/// Granularity of the division.
struct TallCut {
  std::int64_t slices = 1;     ///< slices of the columns of B; each repeats all items
  std::int64_t blocks = 1;     ///< concurrent blocks
  int chunk_values = 1 << 30;  ///< maximum entries of a chunk; at least those of one group
  /// True: each block processes one equal share of the matrix, all concurrently. False: blocks process runs
  /// of windows one by one, so that concurrent blocks are adjacent and share rows of B in L2.
  bool equal_shares = false;
  /// Cost of multiplying a tile, in fifths of the time of a group.
  int tile_cost = 1;
};

/// Divides a checked matrix. Every chunk is in exactly one item; a window without groups has one empty chunk,
/// so that its rows are written.
TallPlan plan_tall(const formats::TallView& a, const TallCut& cut);

/// Launch parameters; `..._at` are offsets in Schedule::bytes.
struct TallHeader {
  std::int64_t chunks_at = 0;
  std::int64_t items_at = 0, item_count = 0;
  std::int64_t pieces_at = 0, piece_count = 0;
  std::int64_t places_at = 0;  ///< places of entries in dense tiles, if the family has them
  ScheduleScratch scratch;
  TallShape shape;
  int stages = 0;
  TallWorkspace room;   ///< capacity of a stage
  int dense_bytes = 0;  ///< bytes of the dense tiles of a chunk
};

/// Returns the number of slices of rows of B of `row_bytes`.
std::int64_t tall_slices(const TallShape& shape, std::int64_t row_bytes);

/// A kernel family.
struct TallFamily {
  int element_bytes, sum_bytes;
  /// Segments of 128 bytes per slice of a row of B; unused with dense tiles.
  int least_segments = 1, most_segments;
  std::span<const TallVariant> variants;
  /// Tiles are multiplied as dense ones by a warpgroup, all of a chunk at once, and entries are stored with
  /// their places. Variants have ascending sub-windows, then segments.
  bool dense = false;
  [[nodiscard]] bool swizzled() const { return dense && element_bytes == 2; }
};

/// Chooses the variant and shape for windows of at most `height` rows and rows of B of `row_bytes`.
TallShape tall_shape(const TallFamily& family, int height, std::int64_t row_bytes);

/// Returns the minimum row of B with the same division as one of `row_bytes`.
std::int64_t tall_least_row_bytes(const TallFamily& family, const TallShape& shape, std::int64_t row_bytes);

/// Returns the places of the entries of a matrix in the dense tiles of their chunks, in elements
/// (tall_dense_at).
std::vector<std::uint16_t> tall_places(const formats::TallView& a, std::span<const TallChunk> chunks,
                                       int sub_windows, int element_bytes);

/// Divides a product of at most request.n columns.
TallHeader append_tall(Schedule& schedule, const ScheduleRequest& request, const TallFamily& family);

/// Stored numbers of a header.
inline constexpr std::uint32_t kTallVersion = 2;
std::vector<std::int64_t> tall_numbers(const TallHeader& header);

/// Restores the result of append_tall, and checks that every chunk is valid and belongs to one item, and that
/// slots follow from the ends of items.
TallHeader read_tall(ScheduleReader& reader, Schedule& schedule, const ScheduleRequest& request,
                     const TallFamily& family);

}  // namespace sptile::runtime::cuda
