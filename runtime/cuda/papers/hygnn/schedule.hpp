// Schedules of HyGNN's kernel. Plain C++.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/cuda/device/qualifiers.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

/// `row_entry_at` is an offset in Schedule::bytes.
struct HygnnHeader {
  std::int64_t row_entry_at = 0;  ///< first entry in rows of each row of the matrix, and the end
};

/// Launch parameters of the fused gradient: blocks with consecutive windows, and their sums of dW.
struct HygnnGradientHeader {
  HygnnHeader rows;
  std::int32_t blocks = 0, windows_per_block = 1;
  ScheduleScratch scratch;  ///< partials: [block][tile of dW][64 * 64]
};

/// Makes a schedule of one block per window.
Schedule schedule_hygnn(const ScheduleRequest& request);
/// Makes a schedule of up to two blocks per multiprocessor.
Schedule schedule_hygnn_gradient(const ScheduleRequest& request);

/// Returns the bytes of shared memory for the 16 aggregated rows of a window.
std::int64_t hygnn_aggregate_bytes(std::int64_t n);

/// Errc::unsupported, with the bytes, if the aggregated rows and `other` bytes exceed the shared memory of a
/// block.
Status check_hygnn_update(std::int64_t n, std::int64_t other, const DeviceInfo& device);

/// Shared memory of the fused gradient, in elements: rows of Z and X of a window, then sums of dW, an n x m
/// matrix, in fragments of 16 x 32.
struct HygnnGradientShape {
  std::int64_t n, m;

  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t row_tiles() const { return (n + 15) / 16; }
  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t column_groups() const { return (m + 31) / 32; }
  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t z_stride() const { return column_groups() * 32 + 4; }
  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t x_stride() const { return row_tiles() * 16 + 8; }
  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t x_at() const { return 16 * z_stride(); }
  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t sums_at() const { return x_at() + 16 * x_stride(); }
  [[nodiscard]] SPTILE_HOST_DEVICE std::int64_t size() const {
    return sums_at() + row_tiles() * column_groups() * 16 * 32;
  }
};

/// Errc::unsupported, with the bytes, if the fused gradient and `other` bytes exceed the shared memory of a
/// block.
Status check_hygnn_gradient(const HygnnGradientShape& shape, std::int64_t other, const DeviceInfo& device);

/// Returns the threads per row (32, 16 or 8) that leave the fewest idle over n columns (section 6.2).
constexpr int hygnn_threads_per_row(std::int64_t n) {
  int best = 32;
  const auto padded = [&](int threads) { return (n + threads - 1) / threads * threads; };
  for (const int threads : {16, 8})
    if (padded(threads) < padded(best)) best = threads;
  return best;
}

}  // namespace sptile::runtime::cuda
