// Tuning policies of the csr kernels. Measured on H100 and H200; other devices use the same.
#pragma once

#include "formats/core/dtype.hpp"
#include "runtime/cuda/policy.hpp"

namespace sptile::runtime::cuda {

/// Policy of cuda.csr.rows. Numbers of blocks are minimums per multiprocessor, which limit the registers.
struct CsrPolicy {
  int threads = 128;          ///< per block
  int rows_in_flight = 4;     ///< rows of B that a group of lanes loads before it uses any; even
  int blocks = 0;             ///< one head
  int batched_blocks = 0;     ///< several heads
  int wide_blocks = 0;        ///< two vectors per lane; 0: not supported
  int wide_row_bytes = 1024;  ///< a lane has two vectors if the bytes of rows of B are a multiple of this

  SPTILE_POLICY_MEMBERS(threads, rows_in_flight, blocks, batched_blocks, wide_blocks, wide_row_bytes)
  friend constexpr bool operator==(const CsrPolicy&, const CsrPolicy&) = default;
};

/// Returns the policy for dense operands of a type. Rows of B of 16 bits need more registers, because each
/// lane sums 8 columns in f32. f64 does not gain from two vectors.
constexpr CsrPolicy csr_policy_for(int /*capability*/, DType dense) {
  const bool is_half = size_of(dense) == 2;
  CsrPolicy policy;
  policy.blocks = is_half ? 6 : 9;
  policy.batched_blocks = policy.blocks - 1;
  policy.wide_blocks = dense == DType::f64 ? 0 : is_half ? 4 : 6;
  return policy;
}

/// Policy of cuda.csr.resident.
struct ResidentPolicy {
  int warps = 32;          ///< warps per block; a multiprocessor has one block
  int rows_in_flight = 4;  ///< rows of B per group for one line; half for two lines
  int tail_rows = 2;       ///< rows in flight at the end of a row
  int row_cost = 16;       ///< cost of writing a row of C, in nonzeros
  int step = 32;           ///< nonzeros that a warp reads at a time

  SPTILE_POLICY_MEMBERS(warps, rows_in_flight, tail_rows, row_cost, step)
  friend constexpr bool operator==(const ResidentPolicy&, const ResidentPolicy&) = default;
};

constexpr ResidentPolicy resident_policy_for(int /*capability*/) { return {}; }

/// Policy of cuda.csr.stream.
struct StreamPolicy {
  int threads = 256;       ///< per block
  int per_thread = 8;      ///< nonzeros
  int in_flight = 8;       ///< nonzeros per thread; divides per_thread
  int blocks = 0;          ///< minimum per multiprocessor, which limits the registers
  int long_row = 128;      ///< mean nonzeros per row of a block from which warps process consecutive parts
  int max_of_eight = 512;  ///< nonzeros of a row that 8 lanes add; 32 lanes add more

  SPTILE_POLICY_MEMBERS(threads, per_thread, in_flight, blocks, long_row, max_of_eight)
  friend constexpr bool operator==(const StreamPolicy&, const StreamPolicy&) = default;
};

constexpr StreamPolicy stream_policy_for(int /*capability*/, DType dense) {
  StreamPolicy policy;
  policy.blocks = dense == DType::f64 ? 4 : 6;
  return policy;
}

/// Policy of cuda.csr.shares.
struct SharesPolicy {
  int threads = 128;       ///< per block
  int lanes = 8;           ///< per group; with 16 bytes each, a slice of B has one cache line of each row
  int rows_in_flight = 8;  ///< rows of B per group
  int blocks = 6;          ///< minimum per multiprocessor, which limits the registers
  int max_chunks = 2;      ///< per group, of 32 nonzeros each; fewer if there is little work
  int blocks_of_work = 8;  ///< blocks per multiprocessor from which groups have more chunks

  SPTILE_POLICY_MEMBERS(threads, lanes, rows_in_flight, blocks, max_chunks, blocks_of_work)
  friend constexpr bool operator==(const SharesPolicy&, const SharesPolicy&) = default;
};

constexpr SharesPolicy shares_policy_for(int /*capability*/) { return {}; }

}  // namespace sptile::runtime::cuda
