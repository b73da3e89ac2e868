// SDDMM of entries that stand in rows, on CUDA cores. A warp has a run of entries, 32 at a time, whatever
// rows they are in: a group of lanes loads a row of Y piece by piece, 16 bytes a lane, and multiplies it by
// the row of X. Each group does so for as many entries as it has lanes, and then the sums are added across
// the lanes so that each lane is left with the result of one entry: 32 results are written side by side.
#pragma once

#include <cstdint>

#include "runtime/cuda/sample_task.cuh"
#include "runtime/cuda/tile_lanes.hpp"

namespace sptile::runtime::cuda {

template <class MathT, int kLanesT, int kStepsT, bool kVectorT>
struct EntryShape {
  using Math = MathT;
  using Dense = typename Math::Dense;
  using Acc = typename Math::Acc;
  static constexpr int kLanes = kLanesT;  ///< of a group
  static constexpr int kGroups = kWarp / kLanes;
  static constexpr int kSteps = kStepsT;  ///< pieces of a row that a lane holds
  static constexpr bool kVector = kVectorT;
  static constexpr int kFeatures = kLanes * kSteps * Math::kElements;  ///< of a pass
};

template <class S>
class SampleEntries {
  using Math = typename S::Math;
  using Dense = typename S::Dense;
  using Acc = typename S::Acc;
  using Chunk = typename Math::Chunk;

 public:
  __device__ __forceinline__ SampleEntries(const EntryPart& part, const SampleRows& dense, int lane)
      : part_(part),
        dense_(dense),
        lane_(lane),
        group_(lane / S::kLanes),
        first_(lane % S::kLanes * Math::kElements) {}

  __device__ __forceinline__ void run(std::int64_t number) {
    const std::int64_t begin = number * (kWarp * part_.rounds);
    if (begin >= part_.entries) return;
    const std::int64_t end = min(begin + kWarp * part_.rounds, part_.entries);
    position_ = __ldg(part_.first_row + number);
    for (std::int64_t base = begin; base < end; base += kWarp) {
      find_entry(base, end);
      Acc sum[S::kLanes] = {};
      if (__all_sync(~0u, row_ == __shfl_sync(~0u, row_, 0)))
        multiply<true>(sum);
      else
        multiply<false>(sum);
      const Acc dot = gather(sum);
      const std::int64_t entry = base + lane_ % S::kLanes * S::kGroups + group_;
      if (entry < end) write_sample<Dense>(part_.results, entry, dot);
    }
  }

 private:
  /// Finds column and row of the lane's entry; past the end of the run those of its last entry.
  __device__ __forceinline__ void find_entry(std::int64_t base, std::int64_t end) {
    const std::int64_t entry = min(base + lane_, end - 1);
    column_ = __ldg(part_.columns + entry);
    // Ends of the next 32 rows, counted from `base`: how many of them are not behind the entry?
    const std::int32_t mine = min(position_ + lane_, part_.rows - 1);
    const int row_end =
        static_cast<int>(min(__ldg(part_.row_offset + mine + 1) - base, std::int64_t{kWarp + 1}));
    const int place = static_cast<int>(entry - base);
    int ended = 0;
#pragma unroll
    for (int step = kWarp / 2; step > 0; step /= 2)
      if (__shfl_sync(~0u, row_end, ended + step - 1) <= place) ended += step;
    if (__shfl_sync(~0u, row_end, kWarp - 1) <= place) ended = kWarp;
    std::int32_t position = position_ + ended;
    if (ended == kWarp) position = search(position, entry);
    position_ = __shfl_sync(~0u, position, kWarp - 1);
    row_ = part_.row_id != nullptr ? __ldg(part_.row_id + position) : position;
    if (dense_.row_order != nullptr) row_ = __ldg(dense_.row_order + row_);
  }

  /// Finds the row of an entry behind many empty rows.
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

  /// Adds the lane's share of the dot products of its group's entries; kOneRow: all 32 are in the same row.
  template <bool kOneRow>
  __device__ __forceinline__ void multiply(Acc (&sum)[S::kLanes]) const {
    for (std::int64_t feature = first_; feature - first_ < dense_.n; feature += S::kFeatures) {
      Chunk x[S::kSteps];
      if constexpr (kOneRow) load(x, dense_.x, dense_.x_stride, row_, feature);
#pragma unroll
      for (int j = 0; j < S::kLanes; ++j) {
        const int from = j * S::kGroups + group_;
        Chunk y[S::kSteps];
        load(y, dense_.y, dense_.y_stride, __shfl_sync(~0u, column_, from), feature);
        if constexpr (!kOneRow) load(x, dense_.x, dense_.x_stride, __shfl_sync(~0u, row_, from), feature);
#pragma unroll
        for (int s = 0; s < S::kSteps; ++s)
#pragma unroll
          for (int e = 0; e < Math::kElements; ++e)
            sum[j] += chunk_at<Math>(x[s], e) * chunk_at<Math>(y[s], e);
      }
    }
  }

  __device__ __forceinline__ void load(Chunk (&chunk)[S::kSteps], const std::byte* rows, std::uint64_t stride,
                                       std::int32_t row, std::int64_t feature) const {
    const Dense* const from =
        reinterpret_cast<const Dense*>(rows + std::uint64_t{static_cast<std::uint32_t>(row)} * stride) +
        feature;
    const auto left = static_cast<int>(min(dense_.n - feature, std::int64_t{S::kFeatures}));
#pragma unroll
    for (int s = 0; s < S::kSteps; ++s) {
      constexpr int kStep = S::kLanes * Math::kElements;
      chunk[s] = {};
      load_chunk<S::kVector>(chunk[s], from + s * kStep, left - s * kStep);
    }
  }

  /// Adds across the lanes of the group: lane i gets the sum of entry i. Halves change hands: a lane keeps
  /// the half of the entries that it is in, and adds what its partner has of them.
  __device__ __forceinline__ Acc gather(Acc (&sum)[S::kLanes]) const {
#pragma unroll
    for (int half = S::kLanes / 2; half > 0; half /= 2)
#pragma unroll
      for (int i = 0; i < half; ++i) {
        const bool upper = (lane_ & half) != 0;
        const Acc keep = upper ? sum[i + half] : sum[i], give = upper ? sum[i] : sum[i + half];
        sum[i] = keep + __shfl_xor_sync(~0u, give, half);
      }
    return sum[0];
  }

  const EntryPart& part_;
  const SampleRows& dense_;
  const int lane_, group_, first_;
  std::int32_t position_ = 0;  ///< of the row of the last entry that was found
  std::int32_t row_ = 0;       ///< of X, of the lane's entry
  std::int32_t column_ = 0;
};

}  // namespace sptile::runtime::cuda
