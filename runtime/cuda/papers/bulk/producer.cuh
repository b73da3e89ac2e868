// A producer warp of a bulk block: copies its rows of B of stage after stage, as far ahead as there are
// stages.
#pragma once

#include "runtime/cuda/collective/copy.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/papers/bulk/task.cuh"

namespace sptile::runtime::cuda {

/// Copies to stages that consumers have released.
class BulkOrderedCopies {
 public:
  __device__ __forceinline__ explicit BulkOrderedCopies(const BulkShared& shared) : shared_(shared) {}

  /// Returns the barrier of the copies to the stage of the cursor.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t start(const StageCursor& cursor) {
    shared_.wait_empty(cursor);
    return shared_.full(cursor.stage);
  }
  /// Consumers wait for all copies.
  __device__ __forceinline__ void finish() const {}

 private:
  const BulkShared& shared_;
};

/// Copies to stages that consumers may be reading. Only the producers wait, and only for copies that they
/// started kBarriers stages before: bytes in flight would exceed the range of a barrier otherwise.
class BulkUnorderedCopies {
 public:
  __device__ __forceinline__ explicit BulkUnorderedCopies(const BulkShared& shared) : shared_(shared) {}

  /// Initializes the barriers, for that many arrivals of producers, by one thread before the block
  /// synchronizes.
  static __device__ __forceinline__ void init(const BulkShared& shared, unsigned producers) {
    for (int i = 0; i < kBarriers; ++i) barrier_init(at(shared, i), producers);
  }

  [[nodiscard]] __device__ __forceinline__ std::uint32_t start(const StageCursor& /*cursor*/) {
    wait();
    const std::uint32_t barrier = at(shared_, next_.stage);
    next_.advance(kBarriers);
    return barrier;
  }
  /// Waits for all copies: none may write to shared memory after the block has ended.
  __device__ __forceinline__ void finish() {
    for (int i = 0; i < kBarriers; ++i) {
      wait();
      next_.advance(kBarriers);
    }
  }

 private:
  static constexpr int kBarrierBytes = 8;
  static constexpr int kBarriers = kBulkBarrierBytes / kBarrierBytes;

  static __device__ __forceinline__ std::uint32_t at(const BulkShared& shared, int barrier) {
    return shared.memory + static_cast<std::uint32_t>(barrier * kBarrierBytes);
  }
  /// Waits for the previous copies of the next barrier. In the first round it returns at once.
  __device__ __forceinline__ void wait() const { barrier_wait(at(shared_, next_.stage), next_.phase ^ 1u); }

  const BulkShared& shared_;
  StageCursor next_;  ///< next barrier
};

/// A lane has one row of a stage: it loads the column id kAhead stages ahead and issues one copy of the row's
/// part in the slice. Copies of the lanes are issued in turn, so several producers share a stage if rows are
/// short. kDense is the size of an element. With kWords, the first producer also copies the words of A.
/// `Copies` has the barriers: BulkOrderedCopies or BulkUnorderedCopies.
template <int kDense, bool kWords, class Copies>
class BulkProducer {
 public:
  __device__ __forceinline__ BulkProducer(const BulkTask& task, const BulkShared& shared, int producer,
                                          int lane)
      : task_(task),
        shared_(shared),
        most_(8 * task.stage_tiles / task.producers),
        lane_(lane),
        stages_(task),
        copies_(shared) {
    first_ = producer * most_;
  }

  __device__ __forceinline__ void run() {
    if (task_.copy == BulkCopy::rows)
      produce<BulkCopy::rows>();
    else if (task_.copy == BulkCopy::pieces)
      produce<BulkCopy::pieces>();
    else
      produce<BulkCopy::elements>();
  }

 private:
  static constexpr int kAhead = 4;
  static constexpr int kWordBytes = 16;  ///< bytes of the words of a tile
  static_assert(!kWords || kDense > 2, "words are copied asynchronously");

  /// A stage whose column ids are in flight.
  struct Ahead {
    std::int32_t column;
    int count;  ///< tiles; 0: past the last stage
    std::int32_t slice, tile;
    std::int16_t segment_begin, segment_end;
  };

  /// The ring has fixed positions, because moving a register waits for its load.
  template <BulkCopy kCopy>
  __device__ __forceinline__ void produce() {
    Ahead ring[kAhead];
    StageCursor cursor;
#pragma unroll
    for (int a = 0; a < kAhead; ++a) read_ahead(ring[a]);
    while (true) {
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        if (ring[a].count == 0) return copies_.finish();
        const std::uint32_t full = copies_.start(cursor);
        bring<kCopy>(ring[a], shared_.stage(task_, cursor.stage), full);
        cursor.advance(task_.stages);
        read_ahead(ring[a]);
      }
    }
  }

  /// Returns the rows that the producer copies for `tiles` tiles.
  [[nodiscard]] __device__ __forceinline__ int rows(int tiles) const {
    return max(0, min(most_, 8 * tiles - first_));
  }

  __device__ __forceinline__ void read_ahead(Ahead& ahead) {
    ahead.count = 0;
    if (done_ || !stages_.advance()) {
      done_ = true;
      return;
    }
    ahead.count = stages_.count();
    ahead.slice = stages_.slice();
    ahead.tile = stages_.tile();
    ahead.segment_begin = static_cast<std::int16_t>(stages_.part().segment_begin);
    ahead.segment_end = static_cast<std::int16_t>(stages_.part().segment_end);
    ahead.column = 0;
    if (lane_ < rows(ahead.count))
      ahead.column = __ldg(task_.tiles.arrays.columns + 8 * std::int64_t{stages_.tile()} + first_ + lane_);
  }

  template <BulkCopy kCopy>
  __device__ __forceinline__ void bring(const Ahead& ahead, std::uint32_t stage_at,
                                        std::uint32_t full) const {
    const std::int64_t slice = std::int64_t{ahead.slice} * task_.slice_segments;
    const std::int64_t offset = (slice + ahead.segment_begin) * kBulkSegmentBytes;
    const std::int64_t end = min(task_.tiles.n * kDense, (slice + ahead.segment_end) * kBulkSegmentBytes);
    const auto bytes = static_cast<int>(end - offset);
    const int count = bytes > 0 ? rows(ahead.count) : 0;  // a plan may have more columns than the product
    const std::byte* const b = static_cast<const std::byte*>(task_.tiles.b) + offset;
    const std::uint32_t stage =
        stage_at + static_cast<std::uint32_t>(ahead.segment_begin * kBulkSegmentBytes);
    const bool words = kWords && first_ == 0;
    const std::byte* const a =
        static_cast<const std::byte*>(task_.tiles.arrays.masks) + std::int64_t{ahead.tile} * kWordBytes;
    const std::uint32_t words_at = stage_at + static_cast<std::uint32_t>(task_.stage.entries_at);
    if constexpr (kCopy == BulkCopy::rows) {
      const int word_bytes = words ? ahead.count * kWordBytes : 0;
      if (lane_ == 0) barrier_arrive_expect(full, static_cast<unsigned>(count * bytes + word_bytes));
      __syncwarp();
      if (words && lane_ == 0) copy_bulk(words_at, a, static_cast<unsigned>(word_bytes), full);
      if (lane_ < count)
        copy_bulk(row_at(stage, lane_), b + static_cast<std::uint32_t>(ahead.column) * task_.tiles.ldb_bytes,
                  static_cast<unsigned>(bytes), full);
      return;
    }
    if (words && lane_ < ahead.count)
      copy_16(words_at + static_cast<std::uint32_t>(lane_ * kWordBytes), a + lane_ * kWordBytes);
    if constexpr (kCopy == BulkCopy::pieces)
      bring_pieces(ahead.column, count, stage, b, bytes);
    else
      bring_elements(ahead.column, count, stage, b, bytes);
    if constexpr (kCopy == BulkCopy::elements && kDense == 2)  // their copies were not asynchronous
      barrier_arrive(full);
    else
      barrier_arrive_copied(full);
  }

  [[nodiscard]] __device__ __forceinline__ std::uint32_t row_at(std::uint32_t stage, int row) const {
    return stage + static_cast<std::uint32_t>((first_ + row) * task_.stage.pitch);
  }

  /// A lane copies 16 bytes of a row, the warp several rows at once.
  __device__ __forceinline__ void bring_pieces(std::int32_t columns, int count, std::uint32_t stage,
                                               const std::byte* b, int bytes) const {
    const int lanes = task_.slice_segments * (kBulkSegmentBytes / 16);
    const int together = kWarpSize / lanes, mine = lane_ / lanes, byte = lane_ % lanes * 16;
    for (int row = mine; row - mine < count; row += together) {
      const auto column = static_cast<std::uint32_t>(__shfl_sync(~0u, columns, row));
      if (row < count && mine < together && byte < bytes)
        copy_16(row_at(stage, row) + static_cast<std::uint32_t>(byte),
                b + column * task_.tiles.ldb_bytes + byte);
    }
  }

  __device__ __forceinline__ void bring_elements(std::int32_t columns, int count, std::uint32_t stage,
                                                 const std::byte* b, int bytes) const {
#pragma unroll 1
    for (int row = 0; row < count; ++row) {
      const auto column = static_cast<std::uint32_t>(__shfl_sync(~0u, columns, row));
      const std::byte* const from = b + column * task_.tiles.ldb_bytes;
#pragma unroll 1
      for (int e = lane_; e < bytes / kDense; e += kWarpSize) {
        copy_number<kDense>(row_at(stage, row) + static_cast<std::uint32_t>(e * kDense), from + e * kDense);
      }
    }
  }

  const BulkTask& task_;
  const BulkShared& shared_;
  int most_, first_, lane_;  ///< number of rows of a stage that it copies, and the first
  BulkStages stages_;
  Copies copies_;
  bool done_ = false;
};

}  // namespace sptile::runtime::cuda
