// Shapes of a bulk kernel's blocks for slices of the columns of B of each width: warps, and stages in shared
// memory. Plain C++.
#pragma once

#include <algorithm>
#include <iterator>

namespace sptile::runtime::cuda {

inline constexpr int kBulkSegmentBytes = 128;  ///< bytes of a slice per consumer warp
inline constexpr int kBulkDecoded = 2;         ///< tiles of a stage per decoder warp
inline constexpr int kBulkStagesMost = 8;
inline constexpr int kBulkBarrierBytes = 16 * kBulkStagesMost;
inline constexpr int kBulkRegisters = 88;  ///< maximum per thread

/// Voltrix-SpMM (USENIX ATC 2025, section 3.1.3) determines stages and tiles for each width experimentally:
/// parameters that depend on the width only are in one row.
struct BulkShape {
  int segments;   ///< segments of the widest slice
  int tiles;      ///< per stage
  int producers;  ///< warps that share the rows of a stage
  int blocks;     ///< blocks per multiprocessor; fewer if memory is insufficient
  int stages;     ///< stages; fewer if memory is insufficient

  [[nodiscard]] constexpr int decoders() const { return tiles / kBulkDecoded; }
  [[nodiscard]] constexpr int warps(int slice_segments) const {
    return slice_segments + producers + decoders();
  }
  [[nodiscard]] constexpr bool is_valid() const {
    constexpr int kLanes = 32, kRegistersOfSm = 65536;
    return tiles % kBulkDecoded == 0 && 4 * tiles <= kLanes && 8 * tiles % producers == 0 &&
           8 * tiles / producers <= kLanes && stages <= kBulkStagesMost &&
           blocks * warps(segments) * kLanes * kBulkRegisters <= kRegistersOfSm;
  }
};

/// Starting a copy takes at least as long as transferring 512 bytes: up to this size, several producers start
/// them. Wider slices have one, as in the paper.
inline constexpr BulkShape kBulkShapes[] = {
    {.segments = 2, .tiles = 8, .producers = 4, .blocks = 2, .stages = 5},
    {.segments = 4, .tiles = 4, .producers = 2, .blocks = 2, .stages = 5},
    {.segments = 8, .tiles = 4, .producers = 1, .blocks = 2, .stages = 3},
    {.segments = 12, .tiles = 4, .producers = 1, .blocks = 1, .stages = 4},
    {.segments = 16, .tiles = 4, .producers = 1, .blocks = 1, .stages = 3}};
static_assert(std::all_of(std::begin(kBulkShapes), std::end(kBulkShapes),
                          [](const BulkShape& shape) { return shape.is_valid(); }));
static_assert(std::is_sorted(std::begin(kBulkShapes), std::end(kBulkShapes),
                             [](const BulkShape& a, const BulkShape& b) { return a.segments < b.segments; }));

/// Returns the shape for slices of `slice_segments` segments, at most those of the last.
constexpr const BulkShape& bulk_shape(int slice_segments) {
  const BulkShape* shape = kBulkShapes;
  while (shape->segments < slice_segments) ++shape;
  return *shape;
}

constexpr int bulk_warps_most() {
  int most = 0;
  for (const BulkShape& shape : kBulkShapes) most = std::max(most, shape.warps(shape.segments));
  return most;
}

/// Offsets in a stage, in bytes: the rows of B of each tile, 8 by 8, then the words or decoded entries of
/// each tile.
struct BulkStage {
  int pitch;       ///< distance between rows
  int entries_at;  ///< offset of the entries of the first tile
  int bytes;
};
/// A lane of a consumer reads 16 bytes; 8 lanes 4g + t, of two g and four t, are processed together from 8
/// banks of 16 bytes, and read rows t (then t + 4) of a tile. A pitch of 32 bytes more than a multiple of 128
/// assigns banks 2t + g: all different.
constexpr BulkStage bulk_stage(int slice_segments, int tiles, int tile_bytes) {
  const int pitch = slice_segments * kBulkSegmentBytes + 32;
  const int rows = 8 * tiles * pitch;
  return {pitch, rows, rows + (tiles * tile_bytes + 127) / 128 * 128};
}

}  // namespace sptile::runtime::cuda
