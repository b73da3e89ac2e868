// Product of one window by a thread block, on the cores assigned to the window (HyGNN, section 4.1).
#pragma once

#include <cstdint>

#include "runtime/cuda/papers/hygnn/rows.cuh"
#include "runtime/cuda/papers/hygnn/tensor.cuh"

namespace sptile::runtime::cuda {

/// Passes the sums of a window to `sink`, see HygnnTensor and HygnnRows. Called by all threads of the block.
template <class V, bool kConflictFree = true, bool kSharedEdges = true, class Sink>
__device__ __forceinline__ void hygnn_window(const HygnnOperands& operands, HygnnShared& shared,
                                             const HygnnThread& thread, std::int32_t window,
                                             const Sink& sink) {
  const std::int32_t tile = __ldg(operands.window_tile + window),
                     end = __ldg(operands.window_tile + window + 1);
  if (tile < end)
    HygnnTensor<V, kConflictFree, Sink>(operands, shared.tile, thread, sink).run(window, tile, end);
  else
    HygnnRows<V, kSharedEdges, Sink>(operands, shared.edges, thread, sink).run(window);
}

}  // namespace sptile::runtime::cuda
