// Rows of few nonzeros and empty rows on CUDA cores, for the residual part of rs_tile.
//
// A warp has rows of one length, 32 nonzeros in total, and holds their columns and values, one nonzero per
// lane. The lanes of a row cover its features, 16 bytes each, so that a warp processes several rows at once
// if there are few features. Eight rows of B are in flight per lane. Each row has one owner.
#pragma once

#include <cstdint>

#include "runtime/cuda/families/tile/division.hpp"
#include "runtime/cuda/families/tile/task.cuh"

namespace sptile::runtime::cuda {

struct ShortTask {
  const ShortRows* items;
  std::int32_t item_count;
  std::int32_t lanes_per_row;  ///< power of two, at most 32
  const std::int32_t* rows;    ///< rows with nonzeros
  const std::int32_t* empty_rows;
  const std::int32_t* columns;
  const void* values;
};

template <class V, class Math, bool kVector>
class ShortRowsWarp {
  using Dense = typename Math::Dense;
  using Result = typename Math::Result;
  using Acc = typename Math::Acc;
  static constexpr int kElements = Math::kElements;
  static constexpr int kAhead = TilePolicy{}.short_rows_ahead;

 public:
  __device__ __forceinline__ ShortRowsWarp(const TileTask& task, const ShortTask& part, const ShortRows& item,
                                           int lane)
      : task_(task), part_(part), item_(item), lane_(lane) {
    const int groups = kWarpSize / part.lanes_per_row, group = lane / part.lanes_per_row;
    first_ = item.rows * group / groups;
    last_ = item.rows * (group + 1) / groups;
    most_ = (item.rows + groups - 1) / groups;
    if (lane < item.rows) {
      row_ = __ldg((item.length == 0 ? part.empty_rows : part.rows) + item.row_begin + lane);
      if (task.row_order != nullptr) row_ = __ldg(task.row_order + row_);
    }
    hold(0);
  }

  __device__ __forceinline__ void run() {
    const int step = part_.lanes_per_row * kElements;
    for (std::int64_t f = 0; f < task_.n; f += step) {
      feature_ = f + lane_ % part_.lanes_per_row * kElements;
      left_ = static_cast<int>(min(task_.n - feature_, std::int64_t{kElements}));
      if (item_.length == 0)
        clear_rows();
      else
        multiply_rows();
    }
  }

 private:
  /// Loads the columns and values of 32 nonzeros, one per lane. A single row may have more than 32.
  __device__ __forceinline__ void hold(int begin) {
    const int entry = begin + lane_;
    if (entry >= item_.rows * item_.length) return;
    column_ = __ldg(part_.columns + item_.entry_begin + entry);
    value_ = value_at<V, Acc>(part_.values, item_.entry_begin + entry);
  }

  /// Multiplies the rows of the lane's group. All groups take the same steps; groups with fewer rows idle at
  /// the end.
  __device__ __forceinline__ void multiply_rows() {
    const int length = item_.length, count = most_ * length;
    const bool one_row = item_.rows == 1;
    Acc sum[kElements] = {};
    int row = first_, in_row = 0;
    for (int j = 0; j < count; j += kAhead) {
      if (one_row && j % kWarpSize == 0 && length > kWarpSize) hold(j);
      typename Math::Chunk chunk[kAhead];
      Acc value[kAhead];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        const int entry = first_ * length + j + i;
        const std::int32_t column = __shfl_sync(~0u, column_, entry % kWarpSize);
        value[i] = __shfl_sync(~0u, value_, entry % kWarpSize);
        chunk[i] = {};
        if (entry < last_ * length)
          load_chunk<kVector>(chunk[i], static_cast<const Dense*>(task_.b) + column * task_.ldb + feature_,
                              left_);
      }
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        if (j + i >= count) break;
#pragma unroll
        for (int e = 0; e < kElements; ++e) sum[e] += value[i] * chunk_at<Math>(chunk[i], e);
        if (++in_row < length) continue;
        store_row(row++, sum);
        in_row = 0;
      }
    }
  }

  __device__ __forceinline__ void clear_rows() {
    for (int r = 0; r < most_; ++r) {
      Acc sum[kElements] = {};
      store_row(first_ + r, sum);
    }
  }

  /// Stores a row if the group owns it, and clears the sums.
  __device__ __forceinline__ void store_row(int row, Acc (&sum)[kElements]) const {
    const std::int32_t to = __shfl_sync(~0u, row_, row % kWarpSize);
    if (row < last_)
      store_piece<kVector>(static_cast<Result*>(task_.c) + to * task_.ldc + feature_, sum,
                           scale_of<Acc>(task_), left_);
#pragma unroll
    for (int e = 0; e < kElements; ++e) sum[e] = Acc{0};
  }

  const TileTask& task_;
  const ShortTask& part_;
  const ShortRows& item_;
  int lane_;
  int first_, last_, most_;  ///< rows of the lane's group, and of the largest group
  std::int32_t row_ = 0;     ///< row of C of the row with the lane's number
  std::int32_t column_ = 0;  ///< column of the lane's nonzero
  Acc value_ = Acc{0};
  std::int64_t feature_ = 0;
  int left_ = 0;  ///< features from there to n
};

}  // namespace sptile::runtime::cuda
