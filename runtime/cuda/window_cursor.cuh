// Where the windows of an item end, and where their rows are in C: read when a window begins, needed when it
// ends.
#pragma once

#include <cstdint>

#include "runtime/cuda/tile_task.cuh"

namespace sptile::runtime::cuda {

/// Walks the windows of an item. Each lane knows its own two rows of each 8.
template <int kHalves>
class WindowCursor {
 public:
  static constexpr int kHeight = 8 * kHalves;

  __device__ __forceinline__ WindowCursor(const TileTask& task, std::int32_t begin, std::int32_t end,
                                          int lane)
      : task_(task),
        lane_row_(static_cast<std::uint32_t>(lane_result_row(lane, 0))),
        window_(begin - 1),
        last_(end) {
    next_end_ = tile_end(begin);
    next_row_ = first_row(begin);
    advance();
  }
  /// End of the current window's tiles.
  __device__ __forceinline__ std::int32_t end() const { return end_; }
  __device__ __forceinline__ bool done() const { return window_ >= last_; }
  /// Row of C of result row `r` of the lane in half `h`; -1: there is none.
  __device__ __forceinline__ std::int32_t row(int h, int r) const { return row_[h][r]; }

  __device__ __forceinline__ void advance() {
    ++window_;
    end_ = next_end_;
    find_rows(next_row_);
    next_end_ = tile_end(window_ + 1);
    next_row_ = first_row(window_ + 1);
  }

 private:
  __device__ __forceinline__ std::int32_t tile_end(std::int32_t w) const {
    return w < last_ ? __ldg(task_.window_tile + w + 1) : 0;
  }
  __device__ __forceinline__ std::uint32_t first_row(std::int32_t w) const {
    if (task_.window_row == nullptr) return static_cast<std::uint32_t>(w) * kHeight;
    return w < last_ ? static_cast<std::uint32_t>(__ldg(task_.window_row + w)) : 0;
  }
  __device__ __forceinline__ void find_rows(std::uint32_t first) {
#pragma unroll
    for (int h = 0; h < kHalves; ++h)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const std::uint32_t row = first + lane_row_ + 8 * h + r;
        row_[h][r] = -1;
        if (row >= static_cast<std::uint32_t>(task_.rows)) continue;
        row_[h][r] =
            task_.row_order == nullptr ? static_cast<std::int32_t>(row) : __ldg(task_.row_order + row);
      }
  }

  const TileTask& task_;
  std::uint32_t lane_row_;
  std::int32_t window_, last_;
  std::int32_t end_, next_end_;
  std::uint32_t next_row_;
  std::int32_t row_[kHalves][2];
};

}  // namespace sptile::runtime::cuda
