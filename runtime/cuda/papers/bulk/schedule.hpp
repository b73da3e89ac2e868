// Division of bmat among persistent blocks, made on the host when planning (Voltrix-SpMM, USENIX ATC 2025,
// section 3.2). Plain C++.
//
// All tiles, window after window, are cut in pieces of equal cost, a whole number for each block. Input and
// output count: a tile costs what its rows of B take, a window what its rows of C take. A cut goes through a
// window where it must; near an edge of the window it moves there. The parts of a window that is cut write
// partial sums, which the block that comes last adds in order (sum_tree.cuh). Unlike the paper's, a block has
// several short pieces, spread evenly over the matrix, not one long one: then all blocks are in the same
// region at the same time and find each other's rows of B in the second level cache.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/layout/bmat.hpp"
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/tile/schedule.hpp"

namespace sptile::runtime::cuda {

/// A run of tiles, and the windows that it has a part in. Sums of the first window go to head_slot of the
/// workspace if other pieces have parts of it, those of the last one likewise; < 0: to C.
struct alignas(16) BulkPiece {
  std::int64_t value_begin;  ///< first entry of the first tile
  std::int32_t tile_begin, tile_end;
  std::int32_t window_begin, window_end;
  std::int32_t head_slot, tail_slot;  ///< one window: head_slot
};
static_assert(sizeof(BulkPiece) == 32);

/// What a device takes for a slice of 512 bytes of the columns of B, in units of its tiles.
struct BulkCosts {
  double tile = 1;
  double window = 2;  ///< rows of C written
  double piece = 4;   ///< a window cut in two: partial sums written and added. Nearer edges attract the cut
};

/// Numbers that depend on kernel and device.
struct BulkTuning {
  BulkCosts costs = {};
  double piece_target = 128;  ///< cost of a piece that blocks with more to do should have
  double piece_least = 8;     ///< cost below which a block is not worth starting
};

/// Numbers that a device's profile may have for the kernel; those that it lacks are as above.
inline constexpr std::string_view kBulkCosts[] = {"tile_cost", "window_cost", "piece_cost"};
BulkTuning bulk_tuning(const ScheduleRequest& request);

struct BulkPartition {
  std::vector<BulkPiece> pieces;
  std::vector<SplitWindow> splits;
  std::vector<std::int32_t> slot_splits;  ///< for each slot of partial sums: the split window that it is of
  std::int32_t counters = 0;              ///< of parts that have arrived
};

/// Cuts the matrix in at most `count` pieces that are not empty. O(count log windows + tiles of the windows
/// that are cut).
BulkPartition partition_tiles(const formats::BmatView& a, std::int64_t count, const BulkCosts& costs);

/// Chooses the number of pieces for so many blocks: a multiple of them when there is enough to do.
std::int64_t piece_count(const formats::BmatView& a, std::int64_t blocks, const BulkTuning& tuning);

inline constexpr int kBulkSegmentBytes = 128;
inline constexpr int kBulkSegmentsMost = 4;  ///< of a slice of the columns of B, one for each consumer warp
inline constexpr int kBulkStagesMost = 8;
inline constexpr int kBulkBarrierBytes = 16 * kBulkStagesMost;

/// Places in a stage, in bytes: the rows of B of each tile, 8 by 8, then the decoded entries of each tile.
struct BulkStage {
  int pitch;       ///< from row to row
  int entries_at;  ///< of the first tile
  int bytes;
};
/// A lane of a consumer reads 16 bytes; 8 lanes 4g + t, of two g and four t, are served together from 8 banks
/// of 16 bytes, and read rows t (then t + 4) of a tile. A pitch of 32 bytes more than a multiple of 128 puts
/// them in banks 2t + g: all different.
constexpr BulkStage bulk_stage(int slice_segments, int tiles, int entry_bytes) {
  const int pitch = slice_segments * kBulkSegmentBytes + 32;
  const int rows = 8 * tiles * pitch;
  return {pitch, rows, rows + tiles * 32 * entry_bytes};
}

/// How a kernel is compiled: tiles of a stage, and bytes of a tile's entries that a lane has.
struct BulkVariant {
  int tiles;
  int entry_bytes;
};

/// What launching reads; `..._at` are offsets in Schedule::bytes.
struct BulkHeader {
  std::int64_t pieces_at = 0, piece_count = 0;
  std::int64_t splits_at = 0;
  std::int64_t slot_splits_at = 0;
  ScheduleScratch scratch;
  int variant = 0;
  int slices_together = 0;
  int blocks = 0;  ///< for each slice of those that are multiplied together
  int slice_segments = 0;
  int stages = 0;
};

/// Slices of the columns, about equally wide.
struct BulkSlices {
  std::int64_t count;
  int segments;  ///< of one
};
BulkSlices bulk_slices(std::int64_t row_bytes);

/// Least row of B that is cut like one of `row_bytes`.
std::int64_t bulk_least_row_bytes(std::int64_t row_bytes);

/// Divides a product whose rows of B are whole pieces of 16 bytes, for the first variant whose stages are
/// large enough; nothing when the device has no room for two stages.
std::optional<BulkHeader> append_bulk(Schedule& schedule, const ScheduleRequest& request, int element_bytes,
                                      std::span<const BulkVariant> variants);

}  // namespace sptile::runtime::cuda
