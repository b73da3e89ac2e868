// Tuning policy of the tile kernels.
#pragma once

#include "formats/core/dtype.hpp"
#include "runtime/cuda/policy.hpp"

namespace sptile::runtime::cuda {

/// Registers are per thread: the fewest that keep the loop of a kernel out of local memory (ptxas -v, sm_90).
/// A segment is 8 times 16 bytes of a row of B.
struct TilePolicy {
  // Direct kernels: loads in flight are in registers.
  int unaligned_registers = 0;  ///< one segment, operands of any alignment
  int half_registers = 0;       ///< one segment of 8 times 8 bytes; 16-bit operands only
  int registers_1 = 0;          ///< one segment
  int registers_2 = 0;          ///< two segments
  int direct_tiles = 2;         ///< tiles in flight
  int direct_min_tiles = 12;    ///< tiles per warp below which two segments are not worth their registers

  // Staged kernels: loads in flight are in shared memory. Enough warps to saturate the bandwidth of L2, few
  // enough to leave space to L1.
  int stages = 3;         ///< tiles
  int warps_per_sm = 16;  ///< narrow kernel
  int wide_segments = 0;  ///< wide kernel
  int wide_warps_per_sm = 0;
  int narrow_min_tiles = 12;  ///< tiles per warp of kernels of up to two segments
  int wide_min_tiles = 45;    ///< tiles per warp of kernels of more
  int head_tiles = 16;        ///< column ids and masks in shared memory, in tiles
  int head_group = 4;         ///< the same per copy
  int value_block = 256;      ///< bytes of values per copy

  // Rows of few nonzeros, and rows next to tiles in one launch.
  int short_rows_ahead = 8;  ///< rows of B in flight per lane
  int mixed_warps = 4;       ///< warps per block without teams

  // Division of the windows among warps; costs and sizes in tiles.
  int max_threads = 256;    ///< threads per block
  int warps_per_block = 2;  ///< adjacent items, which share rows of B in L1
  int min_item_cost = 20;   ///< smaller items do not amortize their start
  int max_item_cost = 32;   ///< larger items share too few rows of B in caches
  int window_cost = 2;      ///< cost of storing a window
  int rounds = 3;      ///< a window is split so that each warp of the device could have that many segments
  int team_warps = 8;  ///< warps per block of a team, which shares long windows
  int min_team_piece = 4;   ///< per warp; a team is not worth it below
  int max_team_piece = 16;  ///< per warp; a window has a further team above

  SPTILE_POLICY_MEMBERS(unaligned_registers, half_registers, registers_1, registers_2, direct_tiles,
                        direct_min_tiles, stages, warps_per_sm, wide_segments, wide_warps_per_sm,
                        narrow_min_tiles, wide_min_tiles, head_tiles, head_group, value_block,
                        short_rows_ahead, mixed_warps, max_threads, warps_per_block, min_item_cost,
                        max_item_cost, window_cost, rounds, team_warps, min_team_piece, max_team_piece)
  friend constexpr bool operator==(const TilePolicy&, const TilePolicy&) = default;
};

/// Returns the policy for tiles of 8 or 16 rows and dense operands of a type. A tile of 16 rows is two of 8
/// that share rows of B. Measured on H100 and H200; other devices use the same.
constexpr TilePolicy tile_policy_for(int /*capability*/, DType dense, int tile_rows) {
  const bool tall = tile_rows == 16;
  TilePolicy policy;
  policy.unaligned_registers = tall ? 112 : 96;
  policy.half_registers = tall ? 104 : 80;
  policy.wide_segments = tall && dense == DType::f32 ? 4 : 2;
  policy.wide_warps_per_sm = tall ? 12 : 16;
  switch (dense) {
    case DType::f64:
      policy.registers_1 = tall ? 120 : 96;
      policy.registers_2 = tall ? 168 : 128;
      break;
    case DType::f32:
      policy.registers_1 = tall ? 104 : 80;
      policy.registers_2 = tall ? 128 : 96;
      break;
    default:  // f16, bf16
      policy.registers_1 = tall ? 120 : 80;
      policy.registers_2 = tall ? 168 : 120;
  }
  return policy;
}

}  // namespace sptile::runtime::cuda
