// Layout of a warp's part of shared memory: rows of B, values, column ids and masks of tiles in flight.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/qualifiers.hpp"
#include "runtime/cuda/families/tile/policy.hpp"

namespace sptile::runtime::cuda {

/// Layout of a warp's shared memory, in bytes: rows of B of kStages tiles, a ring of values, which are copied
/// in blocks, and a ring of heads (column ids and masks) of kHeadTiles tiles.
template <int kStagesT, int kSegments, int kChunkBytesT, int kHalves, int kValueBytes>
struct TileStages {
  static constexpr int kStages = kStagesT;
  static constexpr int kChunkBytes = kChunkBytesT;
  static constexpr int kRowBytes = kSegments * 8 * kChunkBytes;
  static constexpr int kTileBytes = 8 * kRowBytes;
  static constexpr int kMaskBytes = 8 * kHalves;
  static constexpr int kHeadTiles = TilePolicy{}.head_tiles;    ///< in the ring of heads
  static constexpr int kHeadGroup = TilePolicy{}.head_group;    ///< tiles per copy of heads
  static constexpr int kValueBlock = TilePolicy{}.value_block;  ///< bytes per copy of values

  /// Power of two with capacity for the values of the tiles in flight and one block more.
  static constexpr int ring_bytes() {
    const int needed = kValueBytes == 0 ? 0 : kStages * 64 * kHalves * kValueBytes + kValueBlock;
    int ring = 0;
    for (int size = 256; ring < needed; size *= 2) ring = size;
    return ring;
  }
  static constexpr int kRingBytes = ring_bytes();
  static constexpr int kValuesAt = kStages * kTileBytes;
  static constexpr int kIdsAt = kValuesAt + kRingBytes;
  static constexpr int kMasksAt = kIdsAt + kHeadTiles * 32;
  static constexpr int kBytes = (kMasksAt + kHeadTiles * kMaskBytes + 127) / 128 * 128;

  /// Returns the offset in a stage of chunk `chunk` (of 8) of segment `segment` of a row of B, which member
  /// `member` of each group multiplies as its k-th. Chunks of rows that are loaded together are in different
  /// banks.
  SPTILE_HOST_DEVICE static constexpr std::uint32_t chunk_at(int member, int k, int segment, int chunk) {
    const int turn = kChunkBytes == 16 ? 2 * member : 4 * (member >> 1);
    return static_cast<std::uint32_t>((4 * k + member) * kRowBytes + segment * 8 * kChunkBytes +
                                      (chunk ^ turn) * kChunkBytes);
  }
};

}  // namespace sptile::runtime::cuda
