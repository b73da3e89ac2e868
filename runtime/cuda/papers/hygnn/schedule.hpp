// Schedules of HyGNN's kernel. Plain C++.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

/// `row_entry_at` is an offset in Schedule::bytes.
struct HygnnHeader {
  std::int64_t row_entry_at = 0;  ///< first entry in rows of each row of the matrix, and the end
};

/// Makes a schedule of one block per window.
Schedule schedule_hygnn(const ScheduleRequest& request);

/// Returns the bytes of shared memory for the 16 aggregated rows of a window.
std::int64_t hygnn_aggregate_bytes(std::int64_t n);

/// Errc::unsupported, with the bytes, if the aggregated rows and `other` bytes exceed the shared memory of a
/// block.
Status check_hygnn_update(std::int64_t n, std::int64_t other, const DeviceInfo& device);

/// Returns the threads per row (32, 16 or 8) that leave the fewest idle over n columns (section 6.2).
constexpr int hygnn_threads_per_row(std::int64_t n) {
  int best = 32;
  const auto padded = [&](int threads) { return (n + threads - 1) / threads * threads; };
  for (const int threads : {16, 8})
    if (padded(threads) < padded(best)) best = threads;
  return best;
}

}  // namespace sptile::runtime::cuda
