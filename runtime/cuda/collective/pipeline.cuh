// Ring of stages in shared memory between producer and consumer warps of a block.
#pragma once

#include <cstdint>

#include "runtime/cuda/device/ptx.cuh"

namespace sptile::runtime::cuda {

/// Position of a warp in a ring of stages. The phase parity of the barriers changes with each round.
struct StageCursor {
  int stage = 0;
  unsigned phase = 0;

  __device__ __forceinline__ void advance(int stages, int steps = 1) {
    stage += steps;
    while (stage >= stages) {
      stage -= stages;
      phase ^= 1u;
    }
  }
};

/// Barriers of a ring, in shared memory: for each stage one that completes when the stage is full, and one
/// that completes when consumers have released it.
struct StageBarriers {
  static constexpr int kBytes = 16;  ///< per stage

  std::uint32_t memory;

  [[nodiscard]] __device__ __forceinline__ std::uint32_t full(int stage) const {
    return memory + static_cast<std::uint32_t>(kBytes * stage);
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t empty(int stage) const { return full(stage) + 8; }

  /// Initializes the barriers, for that many arrivals of producers and of consumers per stage. One thread
  /// calls it, and the block synchronizes before any other use.
  __device__ __forceinline__ void init(int stages, unsigned producers, unsigned consumers) const {
    for (int stage = 0; stage < stages; ++stage) {
      barrier_init(full(stage), producers);
      barrier_init(empty(stage), consumers);
    }
  }
  /// Waits until producers have filled the stage.
  __device__ __forceinline__ void wait_full(const StageCursor& cursor) const {
    barrier_wait(full(cursor.stage), cursor.phase);
  }
  /// Waits until consumers have released the stage. In the first round it returns at once.
  __device__ __forceinline__ void wait_empty(const StageCursor& cursor) const {
    barrier_wait(empty(cursor.stage), cursor.phase ^ 1u);
  }
};

}  // namespace sptile::runtime::cuda
