// A window on CUDA cores (HyGNN, section 6.2): 32, 16 or 8 threads per row, each with one element at a time.
// Nonzeros are staged in shared memory, kHygnnEdges at a time.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/lanes.hpp"
#include "runtime/cuda/papers/hygnn/task.cuh"

namespace sptile::runtime::cuda {

/// Passes each sum to `sink.store(row, feature, sum)`, also of rows and features past the ends.
template <class V, bool kShared, class Sink>
class HygnnRows {
  struct Entries {
    std::int64_t begin, end;
  };

 public:
  __device__ __forceinline__ HygnnRows(const HygnnOperands& operands, HygnnEdges& shared,
                                       const HygnnThread& thread, const Sink& sink)
      : task_(operands),
        shared_(shared),
        sink_(sink),
        thread_(thread.warp * kWarpSize + thread.lane),
        threads_(thread.warps * kWarpSize),
        groups_(threads_ / operands.threads_per_row) {}

  /// Processes rows concurrently, one per group of threads.
  __device__ __forceinline__ void run(std::int32_t window) {
    const std::int32_t begin = window * kHygnnRows, end = min(begin + kHygnnRows, task_.rows);
    for (std::int32_t first = begin; first < end; first += groups_) {
      const Entries all = {task_.row_entry[first], task_.row_entry[min(first + groups_, end)]};
      const std::int32_t row = first + thread_ / task_.threads_per_row;
      const bool exists = row < end;
      multiply(exists ? row : task_.rows, all,
               exists ? Entries{task_.row_entry[row], task_.row_entry[row + 1]} : Entries{all.end, all.end});
    }
  }

 private:
  /// Processes all features of the group's row, whose entries are `mine` among those of the concurrent rows.
  __device__ __forceinline__ void multiply(std::int32_t row, const Entries& all, const Entries& mine) {
    const bool reloads = all.end - all.begin > kHygnnEdges;  // the entries, for each feature
    for (std::int64_t from = 0; from < task_.n; from += task_.threads_per_row) {
      const std::int64_t feature = from + thread_ % task_.threads_per_row;
      float sum = 0;
      for (std::int64_t begin = all.begin; begin < all.end; begin += kHygnnEdges) {
        const std::int64_t end = min(all.end, begin + kHygnnEdges);
        if (kShared && (reloads || from == 0)) stage({begin, end});
        for (std::int64_t e = max(begin, mine.begin); e < min(end, mine.end); ++e)
          sum += value(e, begin) * task_.dense(column(e, begin), feature);
      }
      sink_.store(row, feature, sum);
    }
  }

  __device__ __forceinline__ void stage(const Entries& entries) {
    __syncthreads();
    for (std::int64_t e = entries.begin + thread_; e < entries.end; e += threads_) {
      shared_.column[e - entries.begin] = __ldg(task_.row_columns + e);
      shared_.value[e - entries.begin] = value_at<V, float>(task_.row_values, e);
    }
    __syncthreads();
  }

  __device__ __forceinline__ std::int32_t column(std::int64_t entry, std::int64_t first) const {
    return kShared ? shared_.column[entry - first] : __ldg(task_.row_columns + entry);
  }
  __device__ __forceinline__ float value(std::int64_t entry, std::int64_t first) const {
    return kShared ? shared_.value[entry - first] : value_at<V, float>(task_.row_values, entry);
  }

  const HygnnOperands& task_;
  HygnnEdges& shared_;
  const Sink& sink_;
  int thread_, threads_, groups_;
};

}  // namespace sptile::runtime::cuda
