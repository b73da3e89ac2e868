// Tuning policy of the tall kernels.
#pragma once

#include "runtime/cuda/policy.hpp"

namespace sptile::runtime::cuda {

/// Costs are in fifths of the time that a group takes.
struct TallPolicy {
  int chunk_groups = 4;  ///< groups of a window per stage
  int producers = 2;     ///< warps per block that copy chunks to stages
  int writers = 2;       ///< warps per block that write dense tiles
  int dense_chunks = 2;  ///< chunks whose dense tiles a block holds
  int min_stages = 2;
  int max_stages = 6;
  int ids_ahead = 3;           ///< chunks between the load of column ids and the copy of their rows
  int values_bytes = 8 << 10;  ///< maximum bytes of values per chunk
  int dense_values = 512;      ///< maximum entries with dense tiles, plus dense_values_per_row per row
  int dense_values_per_row = 8;
  int consumer_registers = 192;     ///< per thread of a warpgroup that multiplies
  int helper_registers = 64;        ///< per thread of the warpgroup of producers and writers
  int min_dense_columns = 96;       ///< columns of B in f32, three quarters of a slice
  int min_dense_half_columns = 32;  ///< columns of B with 16 bits, half of the smallest slice
  int min_piece_cost = 5 * 32;      ///< shorter segments cost more in partial sums than they gain
  int item_cost = 5 * 256;          ///< hides the start and end of a block
  int items_per_block = 8;          ///< for load balance
  int often_fetched = 4;            ///< fetches per row of B above which adjacent blocks should run together

  SPTILE_POLICY_MEMBERS(chunk_groups, producers, writers, dense_chunks, min_stages, max_stages, ids_ahead,
                        values_bytes, dense_values, dense_values_per_row, consumer_registers,
                        helper_registers, min_dense_columns, min_dense_half_columns, min_piece_cost,
                        item_cost, items_per_block, often_fetched)
  friend constexpr bool operator==(const TallPolicy&, const TallPolicy&) = default;
};

/// Returns the policy of a device. Measured on H100 and H200; other devices use the same.
constexpr TallPolicy tall_policy_for(int /*capability*/) { return {}; }

/// The policy of kernels and schedules: both are built once for all devices.
inline constexpr TallPolicy kTallPolicy = tall_policy_for(80);

}  // namespace sptile::runtime::cuda
