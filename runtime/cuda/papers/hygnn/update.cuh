// Aggregation and update in one kernel (HyGNN, section 6.1 and figure 7): a block multiplies its window on
// the cores assigned to it, keeps the 16 aggregated rows in shared memory, and multiplies them by the weights
// on tensor cores.
#pragma once

#include <cstdint>

#include "runtime/cuda/families/update/math.cuh"
#include "runtime/cuda/papers/hygnn/window.cuh"

namespace sptile::runtime::cuda {

/// Products of the update: f32 operands in tf32.
using HygnnMath = UpdateF32<false>;

/// Uses of the aggregated rows Z, whose columns are the rows of the weights.
struct HygnnLayer {
  const std::int32_t* row_order;  ///< null: original order
  float* z = nullptr;             ///< null: not requested
  std::int64_t ldz = 0;
  WeightSource weights;
  UpdateResult result;
};

struct HygnnUpdateTask {
  HygnnOperands operands;
  HygnnLayer layer;
  int stride;  ///< distance between aggregated rows in shared memory, in elements
};

/// Aggregated rows of a window in shared memory.
struct HygnnAggregate {
  float* numbers;
  int stride;  ///< distance between rows in elements
  std::int32_t first_row, rows;
  std::int64_t n;

  /// Clears rows and columns past the ends, too: their weights are zero, but stale memory may contain NaN.
  __device__ __forceinline__ void clear() const {
    for (int i = static_cast<int>(threadIdx.x); i < kHygnnRows * stride; i += static_cast<int>(blockDim.x))
      numbers[i] = 0;
  }
  __device__ __forceinline__ void store(std::int32_t row, std::int64_t feature, float sum) const {
    if (row < rows && feature < n) numbers[(row - first_row) * stride + feature] = sum;
  }
};

/// A window's rows of Z and C.
class HygnnUpdate {
 public:
  __device__ __forceinline__ HygnnUpdate(const HygnnLayer& layer, const HygnnAggregate& aggregate,
                                         const HygnnThread& thread)
      : layer_(layer), aggregate_(aggregate), thread_(thread) {}

  __device__ __forceinline__ void store_z() const {
    const int rows = min(kHygnnRows, aggregate_.rows - aggregate_.first_row);
    for (int r = thread_.warp; r < rows; r += thread_.warps) {
      float* const to = layer_.z + caller_row(layer_.row_order, aggregate_.first_row + r) * layer_.ldz;
      for (std::int64_t i = thread_.lane; i < aggregate_.n; i += kWarpSize)
        to[i] = aggregate_.numbers[r * aggregate_.stride + i];
    }
  }

  /// Computes C; each warp processes 32 columns at a time. The block uses each weight once, so it loads them
  /// from global memory directly into registers.
  __device__ __forceinline__ void store_c() const {
    const auto groups = static_cast<int>((layer_.result.m + kColumnGroup - 1) / kColumnGroup);
    for (int group = thread_.warp; group < groups; group += thread_.warps) {
      const std::int64_t first_column = std::int64_t{group} * kColumnGroup;
      UpdateSums<HygnnMath> sums = {};
      multiply(sums, first_column);
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const std::int32_t row = aggregate_.first_row + 8 * h + thread_.lane / 4;
        if (row < aggregate_.rows)
          write_row<HygnnMath>(layer_.result, sums, h, caller_row(layer_.row_order, row), first_column);
      }
    }
  }

 private:
  __device__ __forceinline__ void multiply(UpdateSums<HygnnMath>& sums, std::int64_t first_column) const {
    const float* const rows = aggregate_.numbers + thread_.lane / 4 * aggregate_.stride + thread_.lane % 4;
    const auto steps = static_cast<int>((aggregate_.n + HygnnMath::kStep - 1) / HygnnMath::kStep);
#pragma unroll 2
    for (int step = 0; step < steps; ++step) {
      WeightNumbers<HygnnMath> numbers;
      load_weights<float, HygnnMath>(numbers, layer_.weights, 0, step, first_column);
      const HygnnMath::Factors factors =
          HygnnMath::factors(rows + step * HygnnMath::kStep, aggregate_.stride, 1);
#pragma unroll
      for (int j = 0; j < 4; ++j) HygnnMath::multiply(sums[j], factors, HygnnMath::pack(numbers[j]));
    }
  }

  const HygnnLayer& layer_;
  const HygnnAggregate& aggregate_;
  const HygnnThread& thread_;
};

template <class V>
__global__ void __launch_bounds__(kHygnnMaxWarps* kWarpSize)
    hygnn_update(const __grid_constant__ HygnnUpdateTask task) {
  follow_previous_kernel();
  const HygnnThread thread = HygnnThread::here();
  const auto window = static_cast<std::int32_t>(blockIdx.x);
  const HygnnAggregate aggregate = {dynamic_shared_at<float>(kHygnnNumbersAt), task.stride,
                                    window * kHygnnRows, task.operands.rows, task.operands.n};
  aggregate.clear();
  __syncthreads();
  hygnn_window<V>(task.operands, *dynamic_shared_at<HygnnShared>(0), thread, window, aggregate);
  __syncthreads();
  const HygnnUpdate update(task.layer, aggregate, thread);
  if (task.layer.z != nullptr) update.store_z();
  update.store_c();
}

}  // namespace sptile::runtime::cuda
