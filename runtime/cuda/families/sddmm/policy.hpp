// Tuning policy of the SDDMM kernels.
#pragma once

#include "formats/core/dtype.hpp"
#include "runtime/cuda/policy.hpp"

namespace sptile::runtime::cuda {

struct SddmmPolicy {
  int narrow_registers = 0;  ///< per thread, for up to narrow_features
  int wide_registers = 0;    ///< per thread, for more
  int narrow_lanes = 0;      ///< lanes per nonzero of a row, for up to narrow_features; 8 for more
  int narrow_features = 32;
  int warps_per_block = 4;
  int warps_per_sm = 32;     ///< warps that the division provides with work
  int max_tiles = 16;        ///< per item
  int max_rounds = 4;        ///< per run of nonzeros, of 32 each
  int round_row_length = 4;  ///< mean row length per round: runs of short rows share rows of Y in caches
  int max_direct_features = 512;

  SPTILE_POLICY_MEMBERS(narrow_registers, wide_registers, narrow_lanes, narrow_features, warps_per_block,
                        warps_per_sm, max_tiles, max_rounds, round_row_length, max_direct_features)
  friend constexpr bool operator==(const SddmmPolicy&, const SddmmPolicy&) = default;
};

/// Returns the policy for tiles of 8 or 16 rows, or for nonzeros in rows if tile_rows is 0, and dense
/// operands of a type. Registers are the fewest that keep loops out of local memory (ptxas -v, sm_90).
/// Measured on H100 and H200; other devices use the same.
constexpr SddmmPolicy sddmm_policy_for(int /*capability*/, DType dense, int tile_rows) {
  const bool is_f32 = dense == DType::f32, is_f64 = dense == DType::f64;
  SddmmPolicy policy;
  policy.narrow_lanes = is_f32 || is_f64 ? 8 : 4;
  if (tile_rows == 0) {
    policy.narrow_registers = is_f64 ? 96 : 72;
    policy.wide_registers = is_f64 ? 112 : 96;
  } else {
    policy.narrow_registers = !is_f32 ? 64 : tile_rows == 16 ? 80 : 72;
    policy.wide_registers = tile_rows == 16 ? (is_f32 ? 168 : 128) : (is_f32 ? 128 : 112);
  }
  return policy;
}

}  // namespace sptile::runtime::cuda
