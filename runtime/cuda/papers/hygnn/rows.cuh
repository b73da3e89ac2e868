// A window on CUDA cores (HyGNN, section 6.2): 32, 16 or 8 threads per row, each with every 32nd, 16th
// or 8th element. Nonzeros are staged in shared memory: all of the window if they fit, or kHygnnEdges at a
// time.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/lanes.hpp"
#include "runtime/cuda/papers/hygnn/task.cuh"

namespace sptile::runtime::cuda {

/// Passes each sum to `sink.store(row, feature, sum)`.
template <class V, bool kShared, class Sink>
class HygnnRows {
 public:
  __device__ __forceinline__ HygnnRows(const HygnnOperands& operands, HygnnEdges& shared,
                                       const HygnnThread& thread, const Sink& sink)
      : task_(operands),
        shared_(shared),
        sink_(sink),
        thread_(thread.warp * kWarpSize + thread.lane),
        threads_(thread.warps * kWarpSize),
        lanes_(operands.threads_per_row),
        groups_(threads_ / operands.threads_per_row) {}

  /// Processes rows concurrently, one per group of threads.
  __device__ __forceinline__ void run(std::int32_t window) const {
    const std::int32_t begin = window * kHygnnRows, end = min(begin + kHygnnRows, task_.rows);
    const std::int64_t first = __ldg(task_.row_entry + begin), last = __ldg(task_.row_entry + end);
    if (!kShared || last - first <= kHygnnEdges) {
      if (kShared) stage(first, last);
      for (std::int32_t row = begin + thread_ / lanes_; row < end; row += groups_) multiply(row, first);
    } else {
      for (std::int32_t row = begin; row < end; row += groups_) multiply_in_parts(row, end);
    }
  }

 private:
  static constexpr int kFeatures = 4;  ///< elements whose sums a thread has at a time

  /// Multiplies a row whose entries are staged; the window's start at `first`.
  __device__ __forceinline__ void multiply(std::int32_t row, std::int64_t first) const {
    const auto begin = static_cast<int>(__ldg(task_.row_entry + row) - first),
               end = static_cast<int>(__ldg(task_.row_entry + row + 1) - first);
    for (std::int64_t feature = thread_ % lanes_; feature < task_.n; feature += kFeatures * lanes_) {
      float sums[kFeatures] = {};
      add(sums, first, begin, end, feature);
      store(row, feature, sums);
    }
  }

  /// Multiplies the concurrent rows from `row` on, staging their entries again for each feature.
  __device__ __forceinline__ void multiply_in_parts(std::int32_t row, std::int32_t end_row) const {
    const std::int64_t last = __ldg(task_.row_entry + min(row + groups_, end_row));
    const std::int32_t mine = row + thread_ / lanes_;
    const std::int64_t mine_begin = mine < end_row ? __ldg(task_.row_entry + mine) : last,
                       mine_end = mine < end_row ? __ldg(task_.row_entry + mine + 1) : last;
    for (std::int64_t from = 0; from < task_.n; from += kFeatures * lanes_) {
      const std::int64_t feature = from + thread_ % lanes_;
      float sums[kFeatures] = {};
      for (std::int64_t begin = __ldg(task_.row_entry + row); begin < last; begin += kHygnnEdges) {
        const std::int64_t end = min(last, begin + kHygnnEdges);
        stage(begin, end);
        add(sums, begin, static_cast<int>(max(begin, mine_begin) - begin),
            static_cast<int>(min(end, mine_end) - begin), feature);
      }
      if (mine < end_row) store(mine, feature, sums);
    }
  }

  /// Adds the products of entries `begin` to `end` after entry `first`. The loads of B are independent.
  __device__ __forceinline__ void add(float (&sums)[kFeatures], std::int64_t first, int begin, int end,
                                      std::int64_t feature) const {
    const float* const b = task_.b + feature;
#pragma unroll 2
    for (int e = begin; e < end; ++e) {
      const float a = value(first, e);
      const float* const from = b + column(first, e) * task_.ldb;
#pragma unroll
      for (int i = 0; i < kFeatures; ++i)
        if (feature + i * lanes_ < task_.n) sums[i] += a * __ldg(from + i * lanes_);
    }
  }

  __device__ __forceinline__ void store(std::int32_t row, std::int64_t feature,
                                        const float (&sums)[kFeatures]) const {
#pragma unroll
    for (int i = 0; i < kFeatures; ++i)
      if (feature + i * lanes_ < task_.n) sink_.store(row, feature + i * lanes_, sums[i]);
  }

  __device__ __forceinline__ void stage(std::int64_t first, std::int64_t last) const {
    __syncthreads();
    for (int e = thread_; e < last - first; e += threads_) {
      shared_.column[e] = __ldg(task_.row_columns + first + e);
      shared_.value[e] = value_at<V, float>(task_.row_values, first + e);
    }
    __syncthreads();
  }

  __device__ __forceinline__ std::int32_t column(std::int64_t first, int e) const {
    return kShared ? shared_.column[e] : __ldg(task_.row_columns + first + e);
  }
  __device__ __forceinline__ float value(std::int64_t first, int e) const {
    return kShared ? shared_.value[e] : value_at<V, float>(task_.row_values, first + e);
  }

  const HygnnOperands& task_;
  HygnnEdges& shared_;
  const Sink& sink_;
  int thread_, threads_, lanes_, groups_;
};

}  // namespace sptile::runtime::cuda
