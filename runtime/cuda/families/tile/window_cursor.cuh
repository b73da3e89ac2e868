// Ends of an item's windows and output rows. Lanes hold both and exchange them by shuffles, because a load in
// the loop over tiles would make the warp wait for the rows of B in flight.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/epilogue.cuh"
#include "runtime/cuda/families/tile/task.cuh"

namespace sptile::runtime::cuda {

/// Iterates over the windows of an item, at most 32. All lanes take the same steps.
template <int kHalves>
class WindowCursor {
 public:
  static constexpr int kHeight = 8 * kHalves;
  static constexpr int kGroup = kWarpSize / kHeight;  ///< windows with one row per lane

  __device__ __forceinline__ WindowCursor(const TileTask& task, std::int32_t begin, std::int32_t end,
                                          int lane)
      : task_(task), lane_(lane), count_(end - begin) {
    const std::int32_t mine = begin + min(lane, count_ - 1);
    ends_ = __ldg(task.window_tile + mine + 1);
    first_row_ = task.window_row == nullptr ? static_cast<std::uint32_t>(mine) * kHeight
                                            : static_cast<std::uint32_t>(__ldg(task.window_row + mine));
    rows_ = read_rows(0);
    next_rows_ = read_rows(kGroup);
    end_ = __shfl_sync(~0u, ends_, 0);
  }
  /// Returns the end of the current window's tiles.
  __device__ __forceinline__ std::int32_t end() const { return end_; }
  __device__ __forceinline__ bool done() const { return at_ >= count_; }
  /// Returns the row of C for row `r` of the current window; -1: none. A warp-wide exchange.
  __device__ __forceinline__ std::int32_t row(int r) const {
    return __shfl_sync(~0u, rows_, (at_ & (kGroup - 1)) * kHeight + r);
  }
  __device__ __forceinline__ void advance() {
    ++at_;
    end_ = __shfl_sync(~0u, ends_, at_ & (kWarpSize - 1));
    if ((at_ & (kGroup - 1)) != 0) return;
    rows_ = next_rows_;
    next_rows_ = read_rows(at_ + kGroup);
  }

 private:
  /// Loads the output rows of kGroup windows, one row per lane.
  __device__ __forceinline__ std::int32_t read_rows(std::int32_t window) const {
    const std::int32_t mine = min(window + lane_ / kHeight, count_ - 1);
    const std::uint32_t row =
        __shfl_sync(~0u, first_row_, mine) + static_cast<std::uint32_t>(lane_ % kHeight);
    if (row >= static_cast<std::uint32_t>(task_.rows)) return -1;
    return caller_row(task_.row_order, row);
  }

  const TileTask& task_;
  int lane_;
  std::int32_t count_, at_ = 0, end_;
  std::int32_t ends_;        ///< end of the window with the lane's index
  std::uint32_t first_row_;  ///< first row of the window with the lane's index
  std::int32_t rows_, next_rows_;
};

}  // namespace sptile::runtime::cuda
