// What HyGNN's kernel needs to know of a matrix. Plain C++.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

/// `row_entry_at` is an offset in Schedule::bytes.
struct HygnnHeader {
  std::int64_t row_entry_at = 0;  ///< first entry in rows of each row of the matrix, and the end
};

/// A block for each window: there is nothing to divide.
Schedule schedule_hygnn(const ScheduleRequest& request);

/// Threads of 32, 16 or 8 for a row that leave the fewest idle over all of n columns (section 6.2).
constexpr int hygnn_threads_per_row(std::int64_t n) {
  int best = 32;
  const auto padded = [&](int threads) { return (n + threads - 1) / threads * threads; };
  for (const int threads : {16, 8})
    if (padded(threads) < padded(best)) best = threads;
  return best;
}

}  // namespace sptile::runtime::cuda
