// Assignment of rows to the threads of a direct kernel.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/direct_schedule.hpp"

namespace sptile::runtime::cuda {

struct DirectRow {
  bool there;  ///< false: no row; the thread follows the first row of its class
  std::int32_t row;
  std::int64_t begin;
  int entries;
  int thread, threads;  ///< index and number of the threads that share the row
};

/// Returns the row of this thread in a block of rows. Reads only classes, rows and row_ptr of the task, which
/// are constant for the plan.
template <class Task>
__device__ __forceinline__ DirectRow direct_row(const Task& task, int block) {
  DirectClass found = task.classes[0];
#pragma unroll
  for (int i = 1; i < static_cast<int>(kDirectClasses); ++i)
    if (i < task.class_count && block >= task.classes[i].first_block) found = task.classes[i];
  const auto thread = static_cast<int>(threadIdx.x);
  const int threads = 1 << found.threads_log;
  const std::int64_t at =
      (static_cast<std::int64_t>(block - found.first_block) * kDirectThreads + thread) >> found.threads_log;
  const bool there = at < found.rows;
  const std::int64_t listed = found.first_row + (there ? at : 0);
  const std::int32_t row = task.rows != nullptr ? task.rows[listed] : static_cast<std::int32_t>(listed);
  const std::int64_t begin = task.row_ptr[row];
  const int entries = there ? static_cast<int>(task.row_ptr[row + 1] - begin) : 0;
  return {there, row, begin, entries, thread & (threads - 1), threads};
}

}  // namespace sptile::runtime::cuda
