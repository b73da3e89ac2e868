// Where the rows of the windows of an item are, read ahead.
#pragma once

#include <cstdint>

#include "runtime/cuda/tile_task.cuh"

namespace sptile::runtime::cuda {

/// Where a window's rows are in C: two per half for each lane, -1 where there is none.
template <int kHalves>
struct WindowRows {
  std::int32_t row[kHalves][2];
};

/// Walks the windows of an item and reads ahead: the rows of the next window, the first row of the one after.
template <int kHalves>
class WindowCursor {
 public:
  static constexpr int kHeight = 8 * kHalves;

  __device__ __forceinline__ WindowCursor(const TileTask& task, const TileItem& item, int lane)
      : task_(task),
        first_of_lane_(static_cast<std::uint32_t>(lane_result_row(lane, 0))),
        window_(item.window_begin),
        last_(item.window_end) {
    keep(first_of_lane_);
    end_ = tile_end(window_);
    next_end_ = tile_end(window_ + 1);
    rows_ = find_rows(first_row(window_));
    next_rows_ = find_rows(first_row(window_ + 1));
    later_row_ = first_row(window_ + 2);
  }
  __device__ __forceinline__ std::int32_t window() const { return window_; }
  __device__ __forceinline__ std::int32_t end() const { return end_; }
  __device__ __forceinline__ bool done() const { return window_ >= last_; }
  __device__ __forceinline__ const WindowRows<kHalves>& rows() const { return rows_; }
  __device__ __forceinline__ void advance() {
    ++window_;
    end_ = next_end_;
    rows_ = next_rows_;
    next_end_ = tile_end(window_ + 1);
    next_rows_ = find_rows(later_row_);
    later_row_ = first_row(window_ + 2);
  }

 private:
  __device__ __forceinline__ std::int32_t tile_end(std::int32_t w) const {
    return w < last_ ? __ldg(task_.window_tile + w + 1) : 0;
  }
  __device__ __forceinline__ std::int32_t first_row(std::int32_t w) const {
    if (w >= last_) return task_.rows;
    return task_.window_row == nullptr ? w * kHeight : __ldg(task_.window_row + w);
  }
  __device__ __forceinline__ WindowRows<kHalves> find_rows(std::int32_t first) const {
    WindowRows<kHalves> found;
#pragma unroll
    for (int h = 0; h < kHalves; ++h)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const std::uint32_t row = static_cast<std::uint32_t>(first + 8 * h + r) + first_of_lane_;
        found.row[h][r] = -1;
        if (row >= static_cast<std::uint32_t>(task_.rows)) continue;
        found.row[h][r] =
            task_.row_order == nullptr ? static_cast<std::int32_t>(row) : __ldg(task_.row_order + row);
      }
    return found;
  }

  const TileTask& task_;
  std::uint32_t first_of_lane_;  ///< its first row in each 8
  std::int32_t window_, last_, end_, next_end_, later_row_;
  WindowRows<kHalves> rows_, next_rows_;
};

}  // namespace sptile::runtime::cuda
