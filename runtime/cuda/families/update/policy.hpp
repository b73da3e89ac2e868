// Tuning policies of the kernels of layer updates. Measured on H100 and H200; other devices use the same.
#pragma once

#include "formats/core/dtype.hpp"
#include "runtime/core/options.hpp"
#include "runtime/cuda/policy.hpp"

namespace sptile::runtime::cuda {

/// Policy of the fused update. Sizes of items are in nonzeros.
struct FusedUpdatePolicy {
  int resident_warps = 24;  ///< maximum per multiprocessor by registers; a block has at most half of them
  int rows_in_flight = 4;   ///< rows of B per group of lanes

  // Division of rows.
  int warps_per_sm = 32;
  int items_per_warp = 4;  ///< for load balance
  int min_item = 256;
  int max_item = 4096;
  int piece_step = 64;  ///< segments of a row are multiples of it, except the last

  SPTILE_POLICY_MEMBERS(resident_warps, rows_in_flight, warps_per_sm, items_per_warp, min_item, max_item,
                        piece_step)
  friend constexpr bool operator==(const FusedUpdatePolicy&, const FusedUpdatePolicy&) = default;
};

constexpr FusedUpdatePolicy fused_update_policy_for(int /*capability*/) { return {}; }

/// Policy of the update of a given Z. Numbers of blocks are per multiprocessor.
struct DenseUpdatePolicy {
  int slice = 128;                    ///< columns of Z in shared memory
  int blocks = 4;                     ///< minimum, which limits the registers
  int grid_blocks = 4;                ///< blocks that are launched
  int max_resident_bytes = 40 << 10;  ///< weights in shared memory: three such blocks fit
  int tall_threads = 128;             ///< per block of the kernel that loads Z to registers
  int tall_blocks = 4;                ///< maximum and minimum of that kernel
  int tall_slice = 64;                ///< columns of Z in registers
  int max_tall_bytes = 100 << 10;     ///< weights in shared memory: two such blocks fit

  SPTILE_POLICY_MEMBERS(slice, blocks, grid_blocks, max_resident_bytes, tall_threads, tall_blocks, tall_slice,
                        max_tall_bytes)
  friend constexpr bool operator==(const DenseUpdatePolicy&, const DenseUpdatePolicy&) = default;
};

/// Returns the policy for a precision; split factors need registers.
constexpr DenseUpdatePolicy dense_update_policy_for(int /*capability*/, Precision precision) {
  DenseUpdatePolicy policy;
  if (precision == Precision::fp32) policy.blocks = 2;
  return policy;
}

/// Policy of the gradient of weights.
struct UpdateGradientPolicy {
  int blocks = 4;       ///< minimum per multiprocessor, which limits the registers
  int grid_blocks = 3;  ///< per multiprocessor
  int min_tiles = 4;    ///< tiles of rows in a part

  SPTILE_POLICY_MEMBERS(blocks, grid_blocks, min_tiles)
  friend constexpr bool operator==(const UpdateGradientPolicy&, const UpdateGradientPolicy&) = default;
};

/// Returns the policy for a precision; split factors and f64 need registers.
constexpr UpdateGradientPolicy update_gradient_policy_for(int /*capability*/, Precision precision) {
  UpdateGradientPolicy policy;
  if (precision == Precision::fp32 || precision == Precision::fp64) policy.blocks = 2;
  return policy;
}

}  // namespace sptile::runtime::cuda
