// Softmax of the rows of a list, and its gradient. A team processes a row: some lanes of a warp, or a block.
// Entries are kept in registers between the passes; the rest of longer rows is loaded again.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/block.cuh"
#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/families/attention/schedule.hpp"
#include "runtime/cuda/families/attention/task.cuh"

namespace sptile::runtime::cuda {

/// Kernel parameter. Lists of each head.
struct SoftmaxTask {
  const std::int64_t* row_ptr;
  const std::int32_t* long_rows;  ///< one block each, before the others
  std::int32_t rows, long_count;
  DenseRows in[2], out;
  double alpha;
};

template <int kLanes>
struct LaneTeam {
  static constexpr int kSize = kLanes;
  int lane;

  template <class Acc, class Combine>
  __device__ __forceinline__ Acc reduce(Acc x, Combine combine) const {
    return reduce_lanes<kLanes, Butterfly::kNearFirst>(x, combine);
  }
};

template <class Acc>
struct BlockTeam {
  static constexpr int kSize = kSoftmaxThreads;
  static constexpr int kWarps = kSoftmaxThreads / kWarpSize;
  int lane;
  Acc* shared;  ///< one element per warp

  template <class Combine>
  __device__ __forceinline__ Acc reduce(Acc x, Combine combine) const {
    return reduce_block<kWarps, Butterfly::kNearFirst>(x, shared, combine);
  }
};

template <class DenseT, class ResultT, class AccT>
struct SoftmaxTypes {
  using Dense = DenseT;
  using Result = ResultT;
  using Acc = AccT;
};

/// Entries of a row that belong to a lane of a team.
template <class Types>
struct RowLists {
  using Acc = typename Types::Acc;
  const SoftmaxTask& task;
  std::int64_t first, count;
  std::int64_t head;

  __device__ __forceinline__ Acc read(int list, std::int64_t k) const {
    return number_at<typename Types::Dense>(task.in[list].data + head * task.in[list].batch, first + k);
  }
  __device__ __forceinline__ void write(std::int64_t k, Acc x) const {
    reinterpret_cast<typename Types::Result*>(task.out.data + head * task.out.batch)[first + k] =
        narrow<typename Types::Result>(x);
  }
};

/// Calls f(k, h) for the lane's entries of a row: h is the register of held entries, -1 for the others.
template <class Team, class F>
__device__ __forceinline__ void for_each_entry(const Team& team, std::int64_t count, const F& f) {
#pragma unroll
  for (int h = 0; h < kSoftmaxHeld; ++h)
    if (team.lane + h * Team::kSize < count) f(std::int64_t{team.lane} + h * Team::kSize, h);
  for (std::int64_t k = team.lane + kSoftmaxHeld * Team::kSize; k < count; k += Team::kSize) f(k, -1);
}

struct SoftmaxForward {
  template <class Types, class Team>
  static __device__ __forceinline__ void run(const RowLists<Types>& row, const Team& team) {
    using Acc = typename Types::Acc;
    Acc held[kSoftmaxHeld];
    const auto score = [&](std::int64_t k) { return static_cast<Acc>(row.task.alpha) * row.read(0, k); };
    Acc maximum = masked<Acc>(), sum{};
    for_each_entry(team, row.count, [&](std::int64_t k, int h) {
      const Acc s = score(k);
      if (h >= 0) held[h] = s;
      maximum = Maximum{}(s, maximum);
    });
    const Acc shift = shift_of(team.reduce(maximum, Maximum{}));
    for_each_entry(team, row.count, [&](std::int64_t k, int h) {
      const Acc weight = NaturalExponential::of((h >= 0 ? held[h] : score(k)) - shift);
      if (h >= 0) held[h] = weight;
      sum += weight;
    });
    const Acc inverse = inverse_of(team.reduce(sum, Plus{}));
    for_each_entry(team, row.count, [&](std::int64_t k, int h) {
      row.write(k, inverse * (h >= 0 ? held[h] : NaturalExponential::of(score(k) - shift)));
    });
  }
};

struct SoftmaxBackward {
  template <class Types, class Team>
  static __device__ __forceinline__ void run(const RowLists<Types>& row, const Team& team) {
    using Acc = typename Types::Acc;
    Acc p[kSoftmaxHeld], dp[kSoftmaxHeld], mean{};
    for_each_entry(team, row.count, [&](std::int64_t k, int h) {
      const Acc x = row.read(kSoftmaxGradientP, k), y = row.read(kSoftmaxGradientDP, k);
      if (h >= 0) {
        p[h] = x;
        dp[h] = y;
      }
      mean += x * y;
    });
    mean = team.reduce(mean, Plus{});
    const Acc alpha = static_cast<Acc>(row.task.alpha);
    for_each_entry(team, row.count, [&](std::int64_t k, int h) {
      const Acc x = h >= 0 ? p[h] : row.read(kSoftmaxGradientP, k);
      const Acc y = h >= 0 ? dp[h] : row.read(kSoftmaxGradientDP, k);
      row.write(k, alpha * x * (y - mean));
    });
  }
};

/// The first blocks process one long row each; in the others kLanes lanes process a row.
template <class Job, class Types, int kLanes>
__global__ void __launch_bounds__(kSoftmaxThreads) softmax_of_rows(const __grid_constant__ SoftmaxTask task) {
  using Acc = typename Types::Acc;
  __shared__ Acc shared[BlockTeam<Acc>::kWarps];
  follow_previous_kernel();
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t block = blockIdx.x, head = blockIdx.y;
  if (block < task.long_count) {
    const std::int32_t row = task.long_rows[block];
    const std::int64_t first = task.row_ptr[row];
    const RowLists<Types> lists{task, first, task.row_ptr[row + 1] - first, head};
    Job::run(lists, BlockTeam<Acc>{thread, shared});
    return;
  }
  const std::int64_t row = (block - task.long_count) * (kSoftmaxThreads / kLanes) + thread / kLanes;
  RowLists<Types> lists{task, 0, 0, head};
  if (row < task.rows) {
    lists.first = task.row_ptr[row];
    lists.count = task.row_ptr[row + 1] - lists.first;
    if (lists.count > kSoftmaxOfLane * kLanes) lists.count = 0;  // processed by a block
  }
  Job::run(lists, LaneTeam<kLanes>{thread % kLanes});
}

}  // namespace sptile::runtime::cuda
