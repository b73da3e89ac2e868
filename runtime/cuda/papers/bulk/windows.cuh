// Ends of a part's windows and output rows, as in window_cursor.cuh, for any number of windows of 16 rows.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/epilogue.cuh"
#include "runtime/cuda/families/tile/task.cuh"

namespace sptile::runtime::cuda {

/// Iterates over windows in ascending order. All lanes take the same steps.
class BulkWindows {
 public:
  __device__ __forceinline__ BulkWindows(const TileTask& task, int lane) : task_(task), lane_(lane) {}

  /// Starts at the first of the nonempty range of windows [begin, end).
  __device__ __forceinline__ void start(std::int32_t begin, std::int32_t end) {
    window_ = begin;
    last_ = end - 1;
    at_ = 0;
    ends_ = read_ends();
    rows_ = read_rows(begin);
    next_rows_ = read_rows(begin + 2);
    end_ = __shfl_sync(~0u, ends_, 0);
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t window() const { return window_; }
  /// Returns the end of the current window's tiles.
  [[nodiscard]] __device__ __forceinline__ std::int32_t end() const { return end_; }
  /// Returns the row of C for row `r` of the current window; -1: none. A warp-wide exchange.
  [[nodiscard]] __device__ __forceinline__ std::int32_t row(int r) const {
    return __shfl_sync(~0u, rows_, at_ % 2 * 16 + r);
  }
  __device__ __forceinline__ void advance() {
    ++window_;
    ++at_;
    if (at_ % kWarpSize == 0) ends_ = read_ends();
    end_ = __shfl_sync(~0u, ends_, at_ % kWarpSize);
    if (at_ % 2 != 0) return;
    rows_ = next_rows_;
    next_rows_ = read_rows(window_ + 2);
  }

 private:
  /// Loads the ends of 32 windows, one per lane.
  [[nodiscard]] __device__ __forceinline__ std::int32_t read_ends() const {
    return __ldg(task_.window_tile + min(window_ + lane_, last_) + 1);
  }
  /// Loads the output rows of two windows, one row per lane.
  [[nodiscard]] __device__ __forceinline__ std::int32_t read_rows(std::int32_t window) const {
    const std::int32_t row = min(window, last_) * 16 + lane_;
    if (row >= task_.rows) return -1;
    return caller_row(task_.row_order, row);
  }

  const TileTask& task_;
  int lane_;
  std::int32_t window_ = 0, last_ = 0, at_ = 0, end_ = 0;
  std::int32_t ends_ = 0;  ///< end of the window with the lane's index
  std::int32_t rows_ = 0, next_rows_ = 0;
};

}  // namespace sptile::runtime::cuda
