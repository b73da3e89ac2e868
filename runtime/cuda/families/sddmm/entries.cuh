// SDDMM of nonzeros in rows, on CUDA cores. A warp has a run of nonzeros, 32 at a time, of any rows. A group
// of lanes loads a row of Y, 16 bytes per lane at a time, and multiplies it by the row of X. A group of g
// lanes does so for g nonzeros and reduces the sums so that each lane has the result of one nonzero: a warp
// stores 32 adjacent results.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/lanes.hpp"
#include "runtime/cuda/collective/warp.cuh"
#include "runtime/cuda/families/sddmm/task.cuh"

namespace sptile::runtime::cuda {

template <class MathT, int kLanesT, int kStepsT, bool kVectorT>
struct EntryShape {
  using Math = MathT;
  using Dense = typename Math::Dense;
  using Result = typename Math::Result;
  using Acc = typename Math::Acc;
  static constexpr int kLanes = kLanesT;  ///< per group
  static constexpr int kGroups = kWarpSize / kLanes;
  static constexpr int kSteps = kStepsT;  ///< vectors of a row per lane
  static constexpr bool kVector = kVectorT;
  static constexpr int kFeatures = kLanes * kSteps * Math::kElements;  ///< per pass
};

/// Loads the lane's vectors of one pass over a row of X or Y. `left` features remain at `from`; missing ones
/// are 0.
template <class S>
__device__ __forceinline__ void load_pass(typename S::Math::Chunk (&chunk)[S::kSteps],
                                          const typename S::Dense* from, int left) {
#pragma unroll
  for (int s = 0; s < S::kSteps; ++s) {
    constexpr int kStep = S::kLanes * S::Math::kElements;
    chunk[s] = {};
    load_chunk<S::kVector>(chunk[s], from + s * kStep, left - s * kStep);
  }
}

/// Adds the products of one pass.
template <class S>
__device__ __forceinline__ void add_pass(typename S::Acc& sum, const typename S::Math::Chunk (&x)[S::kSteps],
                                         const typename S::Math::Chunk (&y)[S::kSteps]) {
  using Math = typename S::Math;
#pragma unroll
  for (int s = 0; s < S::kSteps; ++s)
#pragma unroll
    for (int e = 0; e < Math::kElements; ++e) sum += chunk_at<Math>(x[s], e) * chunk_at<Math>(y[s], e);
}

template <class S>
class SddmmEntries {
  using Math = typename S::Math;
  using Dense = typename S::Dense;
  using Acc = typename S::Acc;
  using Chunk = typename Math::Chunk;

 public:
  __device__ __forceinline__ SddmmEntries(const EntryPart& part, const SddmmDense& dense, int lane)
      : part_(part),
        dense_(dense),
        lane_(lane),
        group_(lane / S::kLanes),
        first_(lane % S::kLanes * Math::kElements) {}

  /// Multiplies run `number` of the part.
  __device__ __forceinline__ void run(std::int64_t number) {
    base_ = number * (kWarpSize * part_.rounds);
    if (base_ >= part_.entries) return;
    end_ = min(base_ + kWarpSize * part_.rounds, part_.entries);
    position_ = __ldg(part_.first_row + number);
    read_ahead();
    for (; base_ < end_;) {
      find_entries();
      const std::int64_t entry = next_round();
      if (base_ < end_) read_ahead();
      Acc sum[S::kLanes] = {};
      if (__all_sync(~0u, row_ == __shfl_sync(~0u, row_, 0)))
        multiply<true>(sum);
      else
        multiply<false>(sum);
      store(entry, sum);
    }
  }

  /// Multiplies entries first to end - 1, which are in one row of the format.
  __device__ __forceinline__ void run_row(std::int64_t first, std::int64_t end, std::int32_t row) {
    base_ = first;
    end_ = end;
    row_ = dense_.row(row);
    read_columns();
    for (; base_ < end_;) {
      column_ = next_column_;
      const std::int64_t entry = next_round();
      if (base_ < end_) read_columns();
      Acc sum[S::kLanes] = {};
      multiply<true>(sum);
      store(entry, sum);
    }
  }

 private:
  /// Returns the nonzero whose result the lane stores, and goes to the next 32.
  __device__ __forceinline__ std::int64_t next_round() {
    const std::int64_t entry = base_ + lane_ % S::kLanes * S::kGroups + group_;
    base_ += kWarpSize;
    return entry;
  }

  __device__ __forceinline__ void store(std::int64_t entry, Acc (&sum)[S::kLanes]) const {
    const Acc dot = gather(sum);
    if (entry < end_) write_result<typename S::Result>(part_.results, entry, dot);
  }

  /// Starts the loads of the columns of the next 32 nonzeros; past the end of the run, of the last one.
  __device__ __forceinline__ void read_columns() {
    next_column_ = __ldg(part_.columns + min(base_ + lane_, end_ - 1));
  }

  /// Starts the loads of the columns of the next 32 nonzeros and of the ends of their rows.
  __device__ __forceinline__ void read_ahead() {
    read_columns();
    next_row_end_ = __ldg(part_.row_offset + min(position_ + lane_, part_.rows - 1) + 1);
  }

  /// Finds column and row of the lane's nonzero.
  __device__ __forceinline__ void find_entries() {
    column_ = next_column_;
    const std::int64_t entry = min(base_ + lane_, end_ - 1);
    // Ends of the next 32 rows, relative to the first nonzero: the number of ends at or before the lane's
    // nonzero.
    const int row_end = static_cast<int>(min(next_row_end_ - base_, std::int64_t{kWarpSize + 1}));
    const int place = static_cast<int>(entry - base_);
    int ended = 0;
#pragma unroll
    for (int step = kWarpSize / 2; step > 0; step /= 2)
      if (__shfl_sync(~0u, row_end, ended + step - 1) <= place) ended += step;
    if (__shfl_sync(~0u, row_end, kWarpSize - 1) <= place) ended = kWarpSize;
    std::int32_t position = position_ + ended;
    if (ended == kWarpSize) position = search(position, entry);
    position_ = __shfl_sync(~0u, position, kWarpSize - 1);
    row_ = part_.row_id != nullptr ? __ldg(part_.row_id + position) : position;
    row_ = dense_.row(row_);
  }

  /// Finds the row of a nonzero that follows many empty rows.
  __device__ __forceinline__ std::int32_t search(std::int32_t low, std::int64_t entry) const {
    std::int32_t high = part_.rows - 1;
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (__ldg(part_.row_offset + middle + 1) <= entry)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  /// Vectors of rows in flight together; more of them would cost occupancy.
  template <bool kOneRow>
  struct Batch {
    static constexpr int kEntries = (kOneRow || S::kSteps > 1 ? 4 : 2) / S::kSteps;
    Chunk y[kEntries][S::kSteps];
    Chunk x[kOneRow ? 1 : kEntries][S::kSteps];
  };

  /// Adds the lane's part of the dot products of its group's nonzeros. kOneRow: all 32 are in one row. The
  /// next batch is in flight while one is multiplied.
  template <bool kOneRow>
  __device__ __forceinline__ void multiply(Acc (&sum)[S::kLanes]) const {
    using B = Batch<kOneRow>;
    constexpr int kBatches = S::kLanes / B::kEntries;
    for (std::int64_t feature = first_; feature - first_ < dense_.n; feature += S::kFeatures) {
      Chunk x[S::kSteps];
      if constexpr (kOneRow) load(x, dense_.x, dense_.x_stride, row_, feature);
      B batch[2];
      load_batch<kOneRow>(batch[0], 0, feature);
#pragma unroll
      for (int b = 0; b < kBatches; ++b) {
        if (b + 1 < kBatches) load_batch<kOneRow>(batch[(b + 1) % 2], b + 1, feature);
#pragma unroll
        for (int i = 0; i < B::kEntries; ++i) {
          const B& now = batch[b % 2];
          Acc& to = sum[b * B::kEntries + i];
          if constexpr (kOneRow)
            add_pass<S>(to, x, now.y[i]);
          else
            add_pass<S>(to, now.x[i], now.y[i]);
        }
      }
    }
  }

  template <bool kOneRow>
  __device__ __forceinline__ void load_batch(Batch<kOneRow>& batch, int number, std::int64_t feature) const {
#pragma unroll
    for (int i = 0; i < Batch<kOneRow>::kEntries; ++i) {
      const int from = (number * Batch<kOneRow>::kEntries + i) * S::kGroups + group_;
      load(batch.y[i], dense_.y, dense_.y_stride, __shfl_sync(~0u, column_, from), feature);
      if constexpr (!kOneRow)
        load(batch.x[i], dense_.x, dense_.x_stride, __shfl_sync(~0u, row_, from), feature);
    }
  }

  __device__ __forceinline__ void load(Chunk (&chunk)[S::kSteps], const std::byte* rows, std::uint64_t stride,
                                       std::int32_t row, std::int64_t feature) const {
    const Dense* const from =
        reinterpret_cast<const Dense*>(rows + std::uint64_t{static_cast<std::uint32_t>(row)} * stride) +
        feature;
    load_pass<S>(chunk, from, static_cast<int>(min(dense_.n - feature, std::int64_t{S::kFeatures})));
  }

  /// Adds over the lanes of the group. Lane i returns the sum of nonzero i.
  __device__ __forceinline__ Acc gather(Acc (&sum)[S::kLanes]) const {
    reduce_transposed<Butterfly::kFarFirst>(sum, lane_);
    return sum[0];
  }

  const EntryPart part_;
  const SddmmDense dense_;
  const int lane_, group_, first_;
  std::int64_t base_ = 0, end_ = 0;  ///< remaining entries of the run
  std::int32_t position_ = 0;        ///< position of the row of the last entry found
  std::int32_t next_column_ = 0;
  std::int64_t next_row_end_ = 0;
  std::int32_t row_ = 0;  ///< row of X for the lane's entry
  std::int32_t column_ = 0;
};

}  // namespace sptile::runtime::cuda
