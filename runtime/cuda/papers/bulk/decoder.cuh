// A decoder warp of a bulk block: loads words and values of its tiles of each stage and writes the operands
// of all lanes, once for all consumers.
#pragma once

#include "runtime/cuda/papers/bulk/entries.cuh"
#include "runtime/cuda/papers/bulk/task.cuh"

namespace sptile::runtime::cuda {

/// A lane has one word of a stage, loaded kAhead stages ahead; a scan over the lanes gives the first value of
/// each word. Values are loaded one stage ahead. The decoders of a block share the tiles of each stage.
template <class V, class Math>
class BulkDecoder {
  using Entries = BulkEntries<Math, V>;

 public:
  __device__ __forceinline__ BulkDecoder(const BulkTask& task, const BulkShared& shared, int decoder,
                                         int lane)
      : task_(task), shared_(shared), first_(decoder * kBulkDecoded), lane_(lane), stages_(task) {}

  __device__ __forceinline__ void run() {
    Ahead ring[kAhead];
    Values values[2];
    StageCursor cursor;
#pragma unroll
    for (int a = 0; a < kAhead; ++a) read_ahead(ring[a]);
    if (ring[0].count == 0) return;
    read_values(values[0], ring[0]);
    read_ahead(ring[0]);
    while (true) {
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        Ahead& next = ring[(a + 1) % kAhead];
        const bool more = next.count > 0;
        read_values(values[(a + 1) % 2], next);
        read_ahead(next);
        write(values[a % 2], cursor);
        if (!more) return;
      }
    }
  }

 private:
  static constexpr int kAhead = 4;
  static_assert(kAhead % 2 == 0);

  struct Ahead {
    std::uint32_t word;  ///< the lane's word of the stage
    int count;           ///< 0: past the last stage
    bool first;          ///< first stage of a part
    std::int64_t value_begin;
  };
  /// Elements (h, k) of a tile: rows 8h to 8h + 7, columns 4k to 4k + 3.
  struct Values {
    V value[kBulkDecoded][2][2];
    bool present[kBulkDecoded][2][2];  ///< for a pattern
  };

  __device__ __forceinline__ void read_ahead(Ahead& ahead) {
    ahead.count = 0;
    ahead.word = 0;
    if (done_ || !stages_.advance()) {
      done_ = true;
      return;
    }
    ahead.count = stages_.count();
    ahead.first = stages_.is_first();
    ahead.value_begin = stages_.part().value_begin;
    if (lane_ < 4 * ahead.count)
      ahead.word = __ldg(static_cast<const std::uint32_t*>(task_.tiles.arrays.masks) +
                         4 * std::int64_t{stages_.tile()} + lane_);
  }

  __device__ __forceinline__ void read_values(Values& values, const Ahead& ahead) {
    const std::uint32_t mine = count_bits(ahead.word);
    std::uint32_t sum = mine;
    if constexpr (!std::is_same_v<V, Ones>) {
#pragma unroll
      for (int d = 1; d < kWarpSize; d *= 2) {
        const std::uint32_t other = __shfl_sync(~0u, sum, (lane_ - d) & 31);
        if (lane_ >= d) sum += other;
      }
      if (ahead.count > 0 && ahead.first) value_ = ahead.value_begin;
    }
    const std::uint32_t bit = 1u << lane_;
    const std::uint32_t before = sum - mine;
#pragma unroll
    for (int t = 0; t < kBulkDecoded; ++t)
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const int from = 4 * (first_ + t) + w;
        const std::uint32_t word = __shfl_sync(~0u, ahead.word, from);
        const bool present = word_present(word, bit);
        if constexpr (std::is_same_v<V, Ones>) {
          values.present[t][w % 2][w / 2] = present;
        } else {
          const std::uint32_t index = __shfl_sync(~0u, before, from) + word_index(word, bit);
          values.value[t][w % 2][w / 2] =
              value_if(static_cast<const V*>(task_.tiles.arrays.values) + value_, index, present);
        }
      }
    if constexpr (!std::is_same_v<V, Ones>) value_ += __shfl_sync(~0u, sum, kWarpSize - 1);
  }

  __device__ __forceinline__ void write(const Values& values, StageCursor& cursor) const {
    shared_.wait_empty(cursor);
    const std::uint32_t to =
        shared_.stage(task_, cursor.stage) +
        static_cast<std::uint32_t>(task_.stage.entries_at + first_ * Entries::kTileBytes);
#pragma unroll
    for (int t = 0; t < kBulkDecoded; ++t) {
      typename Entries::Half half[2];
#pragma unroll
      for (int h = 0; h < 2; ++h)
        if constexpr (std::is_same_v<V, Ones>)
          half[h] = Math::template ones<V>(values.present[t][h][0], values.present[t][h][1]);
        else
          half[h] = Math::entries(values.value[t][h][0], values.value[t][h][1]);
      Entries::store(to + static_cast<std::uint32_t>(t * Entries::kTileBytes), lane_, half);
    }
    __syncwarp();
    if (lane_ == 0) barrier_arrive(shared_.full(cursor.stage));
    cursor.advance(task_.stages);
  }

  const BulkTask& task_;
  const BulkShared& shared_;
  int first_, lane_;  ///< first tile of a stage that it decodes
  BulkStages stages_;
  std::int64_t value_ = 0;  ///< first entry of the stage
  bool done_ = false;
};

}  // namespace sptile::runtime::cuda
