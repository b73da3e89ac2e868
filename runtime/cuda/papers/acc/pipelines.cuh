// Order of the loads and products of consecutive tiles in Acc-SpMM and in DTC-SpMM (Acc-SpMM, PPoPP 2025,
// section 3.4). The kernels run these functions, and a test traces them.
//
// The functions call the steps of a block. All of its threads take the same steps:
//
//   load_a(tile)               starts to copy the decoded values of a tile to shared memory
//   load_ids(tile, there)      starts to copy the SparseAToB of a tile to shared memory, if `there`
//   await_copies()             waits until these copies have ended and all threads have taken the last step
//   load_b<kBuffer>(tile)      starts to load the rows of B of a tile to registers
//   multiply<kBuffer>(tile)    waits for the rows of B in the buffer, and multiplies
//
// A and SparseAToB have two buffers each in shared memory, by the parity of the tile.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

/// The least-bubble double-buffer pipeline (algorithm 2, figure 5b). Rows of B are in flight while the
/// previous tile is multiplied. Their ids are therefore loaded two tiles ahead.
struct LeastBubblePipeline {
  static constexpr int kBuffers = 2;  ///< buffers of rows of B

  /// Multiplies tiles [begin, end), at least one.
  template <class Block>
  static __device__ __forceinline__ void run(Block& block, std::int32_t begin, std::int32_t end) {
    warm_up(block, begin, end);
    // Buffers in registers need constant indices, hence two tiles per iteration.
    for (std::int32_t tile = begin;; tile += 2) {
      if (tile + 1 == end) return freeze<0>(block, tile);
      advance<0>(block, tile, end);
      if (tile + 2 == end) return freeze<1>(block, tile + 1);
      advance<1>(block, tile + 1, end);
    }
  }

 private:
  template <class Block>
  static __device__ __forceinline__ void warm_up(Block& block, std::int32_t begin, std::int32_t end) {
    block.load_a(begin);
    block.load_ids(begin, true);
    block.await_copies();
    block.load_ids(begin + 1, begin + 1 < end);
    block.template load_b<0>(begin);
  }

  /// A step of the stable phase: starts all loads for the next tile, then multiplies this one.
  template <int kBuffer, class Block>
  static __device__ __forceinline__ void advance(Block& block, std::int32_t tile, std::int32_t end) {
    block.await_copies();
    block.template load_b<1 - kBuffer>(tile + 1);
    block.load_a(tile + 1);
    block.load_ids(tile + 2, tile + 2 < end);
    block.template multiply<kBuffer>(tile);
  }

  /// The frozen phase: multiplies the last tile.
  template <int kBuffer, class Block>
  static __device__ __forceinline__ void freeze(Block& block, std::int32_t tile) {
    block.await_copies();
    block.template multiply<kBuffer>(tile);
  }
};

/// The pipeline of DTC-SpMM (figure 5a), the baseline: A and SparseAToB are copied a tile ahead, but each
/// product waits for the rows of B that were requested just before.
struct DtcPipeline {
  static constexpr int kBuffers = 1;  ///< buffers of rows of B

  /// Multiplies tiles [begin, end), at least one.
  template <class Block>
  static __device__ __forceinline__ void run(Block& block, std::int32_t begin, std::int32_t end) {
    block.load_a(begin);
    block.load_ids(begin, true);
    std::int32_t tile = begin;
    for (; tile + 1 < end; ++tile) {
      block.await_copies();
      block.load_a(tile + 1);
      block.load_ids(tile + 1, true);
      multiply(block, tile);
    }
    block.await_copies();
    multiply(block, tile);
  }

 private:
  template <class Block>
  static __device__ __forceinline__ void multiply(Block& block, std::int32_t tile) {
    block.template load_b<0>(tile);
    block.template multiply<0>(tile);
  }
};

}  // namespace sptile::runtime::cuda
