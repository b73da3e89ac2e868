// Backward pass of a layer that updates first (HyGNN, section 6.1): a block aggregates a window's rows of Z =
// A G on the cores assigned to it, keeps them in shared memory, multiplies them by the weights for dX, and
// adds X^T Z to its sums of dW, both on tensor cores. The paper transposes Z in shared memory; here X takes
// the part of the transposed operand, which gives dW in the layout of W.
#pragma once

#include <cstdint>

#include "runtime/cuda/families/update/gradient.cuh"
#include "runtime/cuda/papers/hygnn/schedule.hpp"
#include "runtime/cuda/papers/hygnn/update.cuh"

namespace sptile::runtime::cuda {

using HygnnWeightSums = GradientTask<float, HygnnMath>;

struct HygnnGradientTask {
  HygnnOperands operands;  ///< A and G
  HygnnLayer layer;        ///< W^T and dX
  const float* x;
  std::int64_t ldx;
  HygnnGradientShape shape;
  HygnnWeightSums sums;  ///< dW and the sums of the blocks
  std::int32_t windows, windows_per_block;
};

/// A block's sums of dW. A warp has the same fragments for all windows.
class HygnnWeightGradient {
 public:
  __device__ __forceinline__ HygnnWeightGradient(const HygnnGradientTask& task, float* shared,
                                                 const HygnnThread& thread)
      : task_(task),
        z_(shared),
        x_(shared + task.shape.x_at()),
        sums_(shared + task.shape.sums_at()),
        z_stride_(static_cast<int>(task.shape.z_stride())),
        x_stride_(static_cast<int>(task.shape.x_stride())),
        thread_(thread) {}

  __device__ __forceinline__ void clear() const {
    for_each([&](int, int, float* sums) {
      const float zeros[4] = {};
#pragma unroll
      for (int j = 0; j < 4; ++j) store(sums + j * 128, zeros);
    });
  }

  /// Copies a window's rows of X, with zeros past the ends.
  __device__ __forceinline__ void stage_x(std::int32_t first_row) const {
    for (int r = thread_.warp; r < kHygnnRows; r += thread_.warps) {
      const std::int32_t row = first_row + r;
      const bool exists = row < task_.operands.rows;
      const float* const from =
          exists ? task_.x + caller_row(task_.layer.row_order, row) * task_.ldx : nullptr;
      for (int i = thread_.lane; i < x_stride_; i += kWarpSize)
        x_[r * x_stride_ + i] = exists && i < task_.shape.n ? __ldg(from + i) : 0.0f;
    }
  }

  /// Adds X^T Z of a window.
  __device__ __forceinline__ void add() const {
    const int g = lane_group(thread_.lane), t = lane_member(thread_.lane);
    for_each([&](int row, int column, float* sums) {
      UpdateSums<HygnnMath> acc;
#pragma unroll
      for (int j = 0; j < 4; ++j) load(acc[j], sums + j * 128);
#pragma unroll
      for (int k = 0; k < kHygnnRows; k += HygnnMath::kStep) {
        const HygnnMath::Factors f = HygnnMath::factors(x_ + (k + t) * x_stride_ + row + g, 1, x_stride_);
        const float* const z = z_ + (k + t) * z_stride_ + column + g;
#pragma unroll
        for (int j = 0; j < 4; ++j)
          HygnnMath::multiply(acc[j], f, HygnnMath::pack({z[8 * j], z[4 * z_stride_ + 8 * j]}));
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) store(sums + j * 128, acc[j]);
    });
  }

  /// Writes the sums to the workspace, in the order of add_parts.
  __device__ __forceinline__ void write(std::int64_t block) const {
    const int g = lane_group(thread_.lane), t = lane_member(thread_.lane);
    for_each([&](int row, int column, const float* sums) {
      float* const to = task_.sums.tile_partials(
                            block, column / kGradientTile * task_.sums.row_tiles + row / kGradientTile) +
                        row % kGradientTile * kGradientTile + column % kGradientTile;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float acc[4];
        load(acc, sums + j * 128);
#pragma unroll
        for (int e = 0; e < 4; ++e) to[(g + e / 2 * 8) * kGradientTile + 8 * j + 2 * t + e % 2] = acc[e];
      }
    });
  }

 private:
  /// Calls f(first row, first column, sums) for the 16 x 32 fragments of the warp.
  template <class F>
  __device__ __forceinline__ void for_each(const F& f) const {
    const auto groups = static_cast<int>(task_.shape.column_groups());
    const int fragments = static_cast<int>(task_.shape.row_tiles()) * groups;
    for (int i = thread_.warp; i < fragments; i += thread_.warps)
      f(i / groups * 16, i % groups * 32, sums_ + i * 512 + thread_.lane * 4);
  }
  static __device__ __forceinline__ void load(float (&to)[4], const float* from) {
    const auto vec = *reinterpret_cast<const Vec<float, 4>*>(from);
#pragma unroll
    for (int e = 0; e < 4; ++e) to[e] = vec.e[e];
  }
  static __device__ __forceinline__ void store(float* to, const float (&from)[4]) {
    Vec<float, 4> vec;
#pragma unroll
    for (int e = 0; e < 4; ++e) vec.e[e] = from[e];
    *reinterpret_cast<Vec<float, 4>*>(to) = vec;
  }

  const HygnnGradientTask& task_;
  float *const z_, *const x_, *const sums_;
  const int z_stride_, x_stride_;
  const HygnnThread& thread_;
};

/// A block processes consecutive windows, so that its sums of dW are written once.
template <class V>
__global__ void __launch_bounds__(kHygnnMaxWarps* kWarpSize)
    hygnn_layer_gradient(const __grid_constant__ HygnnGradientTask task) {
  follow_previous_kernel();
  const HygnnThread thread = HygnnThread::here();
  auto* const memory = dynamic_shared_at<float>(kHygnnNumbersAt);
  const HygnnWeightGradient gradient(task, memory, thread);
  const auto block = static_cast<std::int32_t>(blockIdx.x);
  const std::int32_t first = block * task.windows_per_block,
                     last = min(first + task.windows_per_block, task.windows);
  gradient.clear();
  for (std::int32_t window = first; window < last; ++window) {
    const HygnnAggregate aggregate = {memory, static_cast<int>(task.shape.z_stride()), window * kHygnnRows,
                                      task.operands.rows, task.operands.n};
    __syncthreads();  // the previous window has been read
    aggregate.clear();
    gradient.stage_x(aggregate.first_row);
    __syncthreads();
    hygnn_window<V>(task.operands, *dynamic_shared_at<HygnnShared>(0), thread, window, aggregate);
    __syncthreads();
    HygnnUpdate(task.layer, aggregate, thread).store_c();
    gradient.add();
  }
  gradient.write(block);
}

}  // namespace sptile::runtime::cuda
