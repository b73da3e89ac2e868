// Tuning policies of the attention and softmax kernels. Measured on H100 and H200; other devices use the
// same.
#pragma once

#include "formats/core/dtype.hpp"
#include "runtime/cuda/policy.hpp"

namespace sptile::runtime::cuda {

enum class AttentionStep { forward, rows_gradient, columns_gradient, features, weights };

/// Policy of the attention kernels of csr. Numbers of blocks are minimums per multiprocessor, which limit the
/// registers.
struct AttentionPolicy {
  int threads = 128;  ///< per block
  int blocks = 4;
  int rows_in_flight = 4;  ///< rows of nonzeros that a group of lanes loads together
  int few_lanes = 2;       ///< lanes of a group for rows of at most two vectors
  /// Lanes of a group for rows that do not consist of complete vectors: the minimum, so that their slices
  /// also fit the partial sums of wider groups.
  int narrow_lanes = 8;

  // Single pass of the forward step over rows that one slice holds.
  int pass_threads = 128;
  int pass_blocks = 5;           ///< one row per nonzero
  int pass_separate_blocks = 4;  ///< a row of Y and one of V per nonzero

  // Division of rows.
  int warps_per_sm = 16;
  int min_piece = 64;  ///< nonzeros of a segment; each stores a row of sums
  int max_piece = 2048;
  int piece_step = 64;

  SPTILE_POLICY_MEMBERS(threads, blocks, rows_in_flight, few_lanes, narrow_lanes, pass_threads, pass_blocks,
                        pass_separate_blocks, warps_per_sm, min_piece, max_piece, piece_step)
  friend constexpr bool operator==(const AttentionPolicy&, const AttentionPolicy&) = default;
};

/// Returns the policy of a step for dense operands of a type. Sums of values in the columns' gradient need
/// registers, and so do products of features; sums of dW need more.
constexpr AttentionPolicy attention_policy_for(int /*capability*/, DType dense, AttentionStep step) {
  AttentionPolicy policy;
  if (step == AttentionStep::weights)
    policy.blocks = 2;
  else if (step == AttentionStep::columns_gradient || step == AttentionStep::features ||
           (step == AttentionStep::forward && dense == DType::f64))
    policy.blocks = 3;
  return policy;
}

/// Policy of the softmax of rows and its gradient.
struct SoftmaxPolicy {
  int threads = 256;          ///< per block
  int held = 8;               ///< entries of a row that a lane keeps in registers
  int max_lane_entries = 64;  ///< maximum entries per lane; a block processes longer rows
  int short_row = 12;         ///< mean length of rows shared by 8 lanes; 32 lanes share longer ones

  SPTILE_POLICY_MEMBERS(threads, held, max_lane_entries, short_row)
  friend constexpr bool operator==(const SoftmaxPolicy&, const SoftmaxPolicy&) = default;
};

constexpr SoftmaxPolicy softmax_policy_for(int /*capability*/) { return {}; }

/// Policy of the attention kernel of bmat. Sizes are in tiles.
struct TileAttentionPolicy {
  int team_warps = 4;        ///< per block
  int narrow_blocks = 4;     ///< minimum per multiprocessor, for one chunk of V per lane
  int wide_blocks = 3;       ///< minimum for several chunks
  int tiles_per_update = 2;  ///< tiles per update of the running maximum
  int warps_per_sm = 12;
  int items_per_warp = 4;     ///< minimum, for load balance
  int max_single_tiles = 24;  ///< maximum of a window that is always processed by one warp
  int min_piece = 96;         ///< per warp before a window has more teams
  int max_piece = 384;
  int max_teams = 64;  ///< maximum per window, because one warp merges their results

  SPTILE_POLICY_MEMBERS(team_warps, narrow_blocks, wide_blocks, tiles_per_update, warps_per_sm,
                        items_per_warp, max_single_tiles, min_piece, max_piece, max_teams)
  friend constexpr bool operator==(const TileAttentionPolicy&, const TileAttentionPolicy&) = default;
};

constexpr TileAttentionPolicy tile_attention_policy_for(int /*capability*/) { return {}; }

}  // namespace sptile::runtime::cuda
