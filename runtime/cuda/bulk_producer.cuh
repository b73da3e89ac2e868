// The producer warp of a bulk block: it brings the rows of B of stage after stage, as far ahead as there are
// stages.
#pragma once

#include "runtime/cuda/bulk_pipe.cuh"
#include "runtime/cuda/bulk_task.cuh"

namespace sptile::runtime::cuda {

/// A lane has every 32nd row of a stage: it reads the column id kAhead stages ahead and issues one copy for
/// the row's part in the slice. kDense is the size of an element.
template <int kTiles, int kDense>
class BulkProducer {
 public:
  __device__ __forceinline__ BulkProducer(const BulkTask& task, const BulkShared& shared, int lane)
      : task_(task), shared_(shared), lane_(lane), stages_(task) {}

  __device__ __forceinline__ void run() {
    if (task_.copy == BulkCopy::rows)
      produce<true>();
    else
      produce<false>();
  }

 private:
  static constexpr int kAhead = 4;
  static constexpr int kRows = 8 * kTiles;
  static constexpr int kRowsOfLane = kRows / kWarp;
  static_assert(kRows % kWarp == 0);

  /// A stage whose column ids are on their way.
  struct Ahead {
    std::int32_t column[kRowsOfLane];
    int rows;  ///< 0: past the last stage
    std::int32_t slice;
  };

  /// The ring has fixed places: to move what is on its way would be to wait for it.
  template <bool kWhole>
  __device__ __forceinline__ void produce() {
    Ahead ring[kAhead];
    StageCursor cursor;
#pragma unroll
    for (int a = 0; a < kAhead; ++a) read_ahead(ring[a]);
    while (true) {
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        if (ring[a].rows == 0) return;
        barrier_wait(shared_.empty(cursor.stage), cursor.phase ^ 1u);
        bring<kWhole>(ring[a], shared_.stage(task_, cursor.stage), shared_.full(cursor.stage));
        cursor.advance(task_.stages);
        read_ahead(ring[a]);
      }
    }
  }

  __device__ __forceinline__ void read_ahead(Ahead& ahead) {
    ahead.rows = 0;
    if (done_ || !stages_.advance()) {
      done_ = true;
      return;
    }
    ahead.rows = 8 * stages_.count();
    ahead.slice = stages_.slice();
    const std::int32_t* const ids = task_.tiles.arrays.columns + 8 * std::int64_t{stages_.tile()} + lane_;
#pragma unroll
    for (int i = 0; i < kRowsOfLane; ++i)
      ahead.column[i] = lane_ + i * kWarp < ahead.rows ? __ldg(ids + i * kWarp) : 0;
  }

  template <bool kWhole>
  __device__ __forceinline__ void bring(const Ahead& ahead, std::uint32_t stage, std::uint32_t full) const {
    const std::int64_t slice_bytes = std::int64_t{kBulkSegmentBytes} * task_.slice_segments;
    const std::int64_t offset = ahead.slice * slice_bytes;
    const auto bytes = static_cast<int>(min(task_.tiles.n * kDense - offset, slice_bytes));
    const std::byte* const b = static_cast<const std::byte*>(task_.tiles.b) + offset;
    if constexpr (kWhole) {
      if (lane_ == 0) barrier_arrive_expect(full, static_cast<unsigned>(ahead.rows * bytes));
      __syncwarp();
#pragma unroll
      for (int i = 0; i < kRowsOfLane; ++i) {
        const int row = lane_ + i * kWarp;
        if (row < ahead.rows)
          copy_bulk(stage + static_cast<std::uint32_t>(row * task_.stage.pitch),
                    b + static_cast<std::uint32_t>(ahead.column[i]) * task_.tiles.ldb_bytes,
                    static_cast<unsigned>(bytes), full);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kRowsOfLane; ++i)
        for (int row = i * kWarp; row < min(ahead.rows, (i + 1) * kWarp); ++row) {
          const auto column = static_cast<std::uint32_t>(__shfl_sync(~0u, ahead.column[i], row));
          bring_elements(stage + static_cast<std::uint32_t>(row * task_.stage.pitch),
                         b + column * task_.tiles.ldb_bytes, bytes / kDense);
        }
      if constexpr (kDense == 2)  // their copies were not asynchronous
        barrier_arrive(full);
      else
        barrier_arrive_copied(full);
    }
  }

  __device__ __forceinline__ void bring_elements(std::uint32_t to, const std::byte* from,
                                                 int elements) const {
    for (int e = lane_; e < elements; e += kWarp) {
      if constexpr (kDense == 2)
        store_half(to + static_cast<std::uint32_t>(2 * e),
                   __ldg(reinterpret_cast<const unsigned short*>(from) + e));
      else
        copy_element<kDense>(to + static_cast<std::uint32_t>(e * kDense), from + e * kDense);
    }
  }

  const BulkTask& task_;
  const BulkShared& shared_;
  int lane_;
  BulkStages<kTiles> stages_;
  bool done_ = false;
};

}  // namespace sptile::runtime::cuda
