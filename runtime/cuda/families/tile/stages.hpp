// A warp's part of shared memory: where B rows, values, column ids and masks stand while they wait to be
// multiplied.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/qualifiers.hpp"
#include "runtime/cuda/families/tile/policy.hpp"

namespace sptile::runtime::cuda {

/// Sizes in bytes. B rows: kStages tiles deep. Values: one stream that goes round, in blocks. Column ids and
/// masks (the heads of tiles): a stream too, of kHeadTiles.
template <int kStagesT, int kSegments, int kChunkBytesT, int kHalves, int kValueBytes>
struct TileStages {
  static constexpr int kStages = kStagesT;
  static constexpr int kChunkBytes = kChunkBytesT;
  static constexpr int kRowBytes = kSegments * 8 * kChunkBytes;
  static constexpr int kTileBytes = 8 * kRowBytes;
  static constexpr int kMaskBytes = 8 * kHalves;
  static constexpr int kHeadTiles = TilePolicy{}.head_tiles;    ///< that the ring of heads holds
  static constexpr int kHeadGroup = TilePolicy{}.head_group;    ///< that are copied at once
  static constexpr int kValueBlock = TilePolicy{}.value_block;  ///< of values that are copied at once

  /// Room for the values that the tiles on their way have at most, and a block more, as a power of two.
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

  /// Where chunk `chunk` (of 8) of segment `segment` of a B row stands in its stage. The row is the one that
  /// member `member` of each group multiplies as its k-th. Rows that are read at the same time have their
  /// chunks in different banks.
  SPTILE_HOST_DEVICE static constexpr std::uint32_t chunk_at(int member, int k, int segment, int chunk) {
    const int turn = kChunkBytes == 16 ? 2 * member : 4 * (member >> 1);
    return static_cast<std::uint32_t>((4 * k + member) * kRowBytes + segment * 8 * kChunkBytes +
                                      (chunk ^ turn) * kChunkBytes);
  }
};

}  // namespace sptile::runtime::cuda
