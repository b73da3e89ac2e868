// C = act(alpha Z W + bias) if W fits into shared memory: a warp processes 16 rows at a time, whose Z is
// loaded from memory directly into the registers of the MMAs, four adjacent numbers per lane. Blocks are
// persistent and synchronize once, after loading the weights. The next rows are in flight while these are
// multiplied.
#pragma once

#include "runtime/cuda/collective/vector.cuh"
#include "runtime/cuda/families/update/dense.cuh"
#include "runtime/cuda/families/update/math.cuh"

namespace sptile::runtime::cuda {

inline constexpr int kTallSlice = DenseUpdatePolicy{}.tall_slice;

template <class Task>
class TallRows {
  using Math = typename Task::Math;
  using Dense = typename Task::Dense;
  using Weights = typename Math::Weights;
  using Four = Vec<Dense, 4>;
  static constexpr int kChunks = kTallSlice / 16;

 public:
  __device__ TallRows(const Task& task, const Weights* weights, int lane)
      : a_(task), weights_(weights), lane_(lane), first_column_(lane % 4 * 4) {}

  /// Starts loading a slice of the rows of a tile; zeros beyond the ends.
  __device__ __forceinline__ void read(std::int64_t tile, std::int64_t slice) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const std::int64_t row = tile * kWindowRows + 8 * h + lane_ / 4;
#pragma unroll
      for (int c = 0; c < kChunks; ++c) {
        const std::int64_t column = slice * kTallSlice + 16 * c + first_column_;
        next_[h][c] = {};
        if (row < a_.rows && column < a_.n) next_[h][c] = load_vector<Four>(a_.z + row * a_.ldz + column);
      }
    }
  }

  /// Starts loading the following slice, then multiplies the loaded one by some of the weights.
  __device__ __forceinline__ void run(std::int64_t tile, std::int64_t following) {
    const std::int64_t slices = (a_.n + kTallSlice - 1) / kTallSlice;
    const int groups = static_cast<int>((a_.result.m + kColumnGroup - 1) / kColumnGroup);
    for (int group = 0; group < groups; group += 2) {
      UpdateSums<Math> sums[2] = {};
      for (std::int64_t slice = 0; slice < slices; ++slice) {
        take();
        const bool last = slice + 1 == slices, end = last && group + 2 >= groups;
        read(end ? following : tile, last ? 0 : slice + 1);
        multiply(sums, slice, group, groups);
      }
      write(sums, tile, group, groups);
    }
  }

 private:
  __device__ __forceinline__ void take() {
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int c = 0; c < kChunks; ++c)
#pragma unroll
        for (int e = 0; e < 4; ++e) z_[h][4 * c + e] = widen(next_[h][c].e[e]);
  }

  __device__ __forceinline__ void multiply(UpdateSums<Math> (&sums)[2], std::int64_t slice, int group,
                                           int groups) const {
    const int steps = static_cast<int>(min((a_.n - slice * kTallSlice + 15) / 16, std::int64_t{kChunks})) * 2;
    const Weights* const from = weights_ + (slice * 2 * kChunks * groups + group) * 128 + lane_;
#pragma unroll
    for (int step = 0; step < 2 * kChunks; ++step) {
      if (step >= steps) break;
      const int at = step / 2 * 4 + step % 2 * 2;
      const float pair[4] = {z_[0][at], z_[1][at], z_[0][at + 1], z_[1][at + 1]};
      // Rows of two numbers: (g, k), (g + 8, k), (g, k + 4), (g + 8, k + 4).
      const typename Math::Factors f = Math::factors_of(pair);
#pragma unroll
      for (int g = 0; g < 2; ++g) {
        if (group + g >= groups) break;
#pragma unroll
        for (int j = 0; j < 4; ++j)
          Math::multiply(sums[g][j], f, from[(std::int64_t{step} * groups + g) * 128 + j * 32]);
      }
    }
  }

  __device__ __forceinline__ void write(const UpdateSums<Math> (&sums)[2], std::int64_t tile, int group,
                                        int groups) const {
#pragma unroll
    for (int g = 0; g < 2; ++g) {
      if (group + g >= groups) break;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const std::int64_t row = tile * kWindowRows + 8 * h + lane_ / 4;
        if (row < a_.rows)
          write_row<Math>(a_.result, sums[g], h, row, std::int64_t{group + g} * kColumnGroup);
      }
    }
  }

  const Task& a_;
  const Weights* const weights_;
  const int lane_, first_column_;
  Four next_[2][kChunks];    ///< in flight
  float z_[2][4 * kChunks];  ///< numbers of rows g and g + 8
};

inline constexpr int kTallThreads = DenseUpdatePolicy{}.tall_threads;

template <class Task>
__global__ void __launch_bounds__(kTallThreads, DenseUpdatePolicy{}.tall_blocks)
    tall_update(const __grid_constant__ Task task) {
  using Math = typename Task::Math;
  follow_previous_kernel();
  auto* const weights = dynamic_shared_at<typename Math::Weights>(0);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t warps = kTallThreads / 32;
  const std::int64_t tiles = (task.rows + kWindowRows - 1) / kWindowRows, all = warps * gridDim.x;
  TallRows<Task> rows(task, weights, lane);
  std::int64_t tile = std::int64_t{blockIdx.x} * warps + threadIdx.x / 32;
  rows.read(tile, 0);
  stage_weights<typename Task::Dense, Math, ByFour>(
      weights, task.weights, 0, static_cast<int>((task.n + 15) / 16 * 2), 0,
      static_cast<int>((task.result.m + kColumnGroup - 1) / kColumnGroup));
  __syncthreads();
  for (; tile < tiles; tile += all) rows.run(tile, tile + all);
}

}  // namespace sptile::runtime::cuda
