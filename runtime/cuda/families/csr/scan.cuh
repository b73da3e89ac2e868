// Device body of csr.scan: csr times one column. The warps of a block multiply equal numbers of consecutive
// nonzeros. Lanes load them in turns and exchange the products through shared memory, so that each lane adds
// consecutive ones; a segmented scan over the lanes completes the rows. The order of additions is fixed.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/block.cuh"
#include "runtime/cuda/collective/epilogue.cuh"
#include "runtime/cuda/collective/lanes.hpp"
#include "runtime/cuda/collective/split.cuh"
#include "runtime/cuda/collective/vector.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/families/csr/shares.hpp"

namespace sptile::runtime::cuda {

/// Parameters that determine speed, not results.
template <int kThreadsOfBlock, int kChunksInFlight, int kLeastBlocks>
struct ScanTuning {
  static constexpr int kThreads = kThreadsOfBlock, kWarps = kThreads / kWarpSize;
  static constexpr int kAtOnce = kChunksInFlight;  ///< 4 or 8; also the consecutive products that a lane adds
  static constexpr int kBlocksPerSm = kLeastBlocks;
};

struct ScanArguments {
  const std::int32_t* columns;
  const float* values;  ///< null: all values are 1
  const RowChunk* chunks;
  const std::int32_t* rows;  ///< ids of the rows that are not empty; null: 0, 1, ...
  const std::int32_t* empty_rows;
  const std::int32_t* row_order;
  const CsrPiece* blocks;
  const CsrSplit* splits;
  unsigned* arrived;  ///< one counter per split row
  float* partials;    ///< one per segment
  const float* b;
  float* c;
  std::int64_t ldb, ldc;
  float alpha, beta;
  int block_count, empty_count;
};

/// Rows of C that a thread clears if they are empty.
inline constexpr int kScanEmptyRows = 4;

/// kVector: elements of B are adjacent.
template <class Tuning, bool kVector>
class ScanWarp {
 public:
  static constexpr int kThreads = Tuning::kThreads, kWarps = Tuning::kWarps, kAtOnce = Tuning::kAtOnce;
  static constexpr int kSharing = kRowChunk / kAtOnce;  ///< lanes whose products are in one chunk
  static_assert(kAtOnce == 4 || kAtOnce == 8);
  /// After each chunk, positions are skipped so that lanes read different banks.
  static constexpr int kStride = kRowChunk + 4;

  struct Shared {
    alignas(16) float products[kWarps][kAtOnce * kStride];
    float heads[kWarps];  ///< sum of the warp for the row that begins before it
    bool ended[kWarps];   ///< that row ends in the warp's nonzeros
    bool last;
  };

  __device__ ScanWarp(const ScanArguments& arguments, Shared& shared)
      : a_(arguments),
        shared_(shared),
        warp_(static_cast<int>(threadIdx.x) / kWarpSize),
        lane_(static_cast<int>(threadIdx.x) % kWarpSize) {}

  __device__ void run(int block) {
    if (block >= a_.block_count) {
      clear_rows(block - a_.block_count);
      return;
    }
    const CsrPiece work = a_.blocks[block];
    head_ = static_cast<int>(work.entry % kRowChunk);
    end_ = head_ + work.entries;
    const int chunks = (end_ + kRowChunk - 1) / kRowChunk, each = (chunks + kWarps - 1) / kWarps;
    const int active = (chunks + each - 1) / each;
    const std::int64_t first = work.entry / kRowChunk;
    walk(work, first, warp_ * each, min(warp_ * each + each, chunks));
    __syncthreads();
    if (work.split >= 0) {
      finish_segment(work, block, active);
    } else if (lane_ == 0 && open_row_ >= 0 && warp_ + 1 < active) {
      store(place(open_row_), open_sum_ + sum_of_heads(warp_ + 1, active));
    }
  }

 private:
  /// Processes chunks `from` to `stop` - 1 of the block, whose first chunk is `first`.
  __device__ void walk(const CsrPiece& work, std::int64_t first, int from, int stop) {
    if (from >= stop) return;
    const RowChunk* const chunks = a_.chunks + first;
    elsewhere_ = from == 0 ? work.split >= 0 : chunks[from - 1].ends >> (kRowChunk - 1) == 0;
    const RowChunk last = chunks[stop - 1];
    const int last_place = min(end_ - (stop - 1) * kRowChunk, kRowChunk) - 1;
    float sum = 0.0F;
#pragma unroll 1
    for (int chunk = from; chunk < stop; chunk += kAtOnce) {
      const int mine = chunk + lane_ / kSharing;
      RowChunk word = {};
      if (mine < stop) word = chunks[mine];
      if (chunk == from) await_previous_kernel();
      float product[kAtOnce];
      multiply(first * kRowChunk, chunk, stop, product);
      add(word, mine, product, sum);
    }
    sum = reduce_lanes<kWarpSize>(sum);
    if (elsewhere_) {
      if (lane_ == 0) put_head(sum, false);
    } else if ((last.ends >> last_place & 1) == 0) {
      open_row_ = last.row + static_cast<std::int32_t>(count_bits(last.ends));
      open_sum_ = sum;
    }
  }

  /// Multiplies kAtOnce chunks and returns the lane's consecutive products. `base` is the first nonzero of
  /// the block's first chunk. Products of places that the warp does not have are 0.
  __device__ void multiply(std::int64_t base, int chunk, int stop, float (&product)[kAtOnce]) const {
    const int at = chunk * kRowChunk + lane_, begin = head_ - at, end = min(end_, stop * kRowChunk) - at;
    float mine[kAtOnce];
    if (begin + lane_ <= 0 && end + lane_ >= kAtOnce * kRowChunk)
      load<true>(base + at, begin, end, mine);
    else
      load<false>(base + at, begin, end, mine);
    exchange(mine, product);
  }

  /// Returns the products of nonzeros at, at + 32, ..., of which numbers `begin` to `end` - 1 exist; all if
  /// kAll.
  template <bool kAll>
  __device__ void load(std::int64_t at, int begin, int end, float (&product)[kAtOnce]) const {
    const std::int32_t* const ids = a_.columns + at;
    const float* const values = a_.values == nullptr ? nullptr : a_.values + at;
    std::int32_t id[kAtOnce];
    float value[kAtOnce], x[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const int k = u * kRowChunk;
      const bool there = kAll || (k >= begin && k < end);
      id[u] = there ? load_once(ids + k) : -1;
      value[u] = !there ? 0.0F : values != nullptr ? load_once(values + k) : 1.0F;
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u)
      x[u] = kAll || id[u] >= 0 ? __ldg(a_.b + id[u] * (kVector ? 1 : a_.ldb)) : 0.0F;
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) product[u] = value[u] * x[u];
  }

  /// Exchanges products of nonzeros 32 apart for consecutive ones.
  __device__ void exchange(const float (&from)[kAtOnce], float (&to)[kAtOnce]) const {
    float* const products = shared_.products[warp_];
    __syncwarp();  // the previous products have been read
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) products[u * kStride + lane_] = from[u];
    __syncwarp();
    const float* const mine = products + lane_ / kSharing * kStride + lane_ % kSharing * kAtOnce;
#pragma unroll
    for (int u = 0; u < kAtOnce; u += 4) {
      const auto four = *reinterpret_cast<const Vec<float, 4>*>(mine + u);
#pragma unroll
      for (int e = 0; e < 4; ++e) to[u + e] = four.e[e];
    }
  }

  /// Adds the lane's products, which are in chunk `mine` of the block, described by `word`. `sum` is the
  /// lane's part of the sum of the row that is not complete.
  __device__ void add(const RowChunk& word, int mine, const float (&product)[kAtOnce], float& sum) {
    const int before = lane_ % kSharing * kAtOnce, from = max(head_ - mine * kRowChunk, 0),
              to = max(min(end_ - mine * kRowChunk, kRowChunk), 0);
    const std::uint32_t ends =
        (word.ends & bits_below(to) & ~bits_below(from)) >> before & bits_below(kAtOnce);
    if (!__any_sync(kFullMask, ends != 0)) {
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) sum += product[u];
      return;
    }
    const float carry = reduce_lanes<kWarpSize>(sum);
    const std::int32_t row =
        word.row + static_cast<std::int32_t>(count_bits(word.ends & bits_below(min(max(before, from), 32))));
    std::int32_t next = row;
    float part = lane_ == 0 ? carry : 0.0F, first = 0.0F;
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      part += product[u];
      if ((ends >> u & 1) == 0) continue;
      if (next == row)
        first = part;
      else
        store(place(next), part);
      ++next;
      part = 0.0F;
    }
    const unsigned ending = __ballot_sync(kFullMask, ends != 0);
    const float scanned = scan(part, ending);
    const float begun = __shfl_sync(kFullMask, scanned, (lane_ + kWarpSize - 1) % kWarpSize);
    if (ends != 0) {
      if (lane_ > 0) first += begun;
      if (elsewhere_ && (ending & bits_below(lane_)) == 0)
        put_head(first, true);
      else
        store(place(row), first);
    }
    elsewhere_ = false;
    sum = lane_ == kWarpSize - 1 ? scanned : 0.0F;
  }

  /// Inclusive scan over the lanes, segmented: a segment starts with each lane in `starts`.
  __device__ float scan(float x, unsigned starts) const {
    const unsigned before = starts & bits_below(lane_ + 1);
    const int start = before == 0 ? 0 : highest_bit(before);
#pragma unroll
    for (int step = 1; step < kWarpSize; step *= 2) {
      const float other = __shfl_sync(kFullMask, x, (lane_ + kWarpSize - step) % kWarpSize);
      if (lane_ - step >= start) x += other;
    }
    return x;
  }

  __device__ void put_head(float sum, bool ended) {
    shared_.heads[warp_] = sum;
    shared_.ended[warp_] = ended;
  }

  /// Returns the sum of warps `from` to `to` - 1 for the row that begins before them.
  __device__ float sum_of_heads(int from, int to) const {
    float sum = 0.0F;
    for (int w = from; w < to; ++w) {
      sum += shared_.heads[w];
      if (shared_.ended[w]) break;
    }
    return sum;
  }

  /// Adds the sums of all warps; if the row has other segments, the last block adds those in order. All
  /// threads of the block call it.
  __device__ void finish_segment(const CsrPiece& work, int block, int active) {
    const CsrSplit split = a_.splits[work.split];
    const auto thread = static_cast<int>(threadIdx.x);
    float sum = thread == 0 ? sum_of_heads(0, active) : 0.0F;
    if (split.pieces > 1) {
      if (thread == 0) __stcg(a_.partials + block, sum);
      if (!block_arrives_last(a_.arrived + work.split, split.pieces, shared_.last)) return;
      sum = 0.0F;
#pragma unroll 1
      for (int p = thread; p < split.pieces; p += kThreads)
        sum += __ldcg(a_.partials + split.first_piece + p);
      sum = reduce_block<kWarps>(sum, shared_.heads);
    }
    if (thread == 0) store(caller_row(a_.row_order, split.row), sum);
  }

  /// Returns the row of C of a row that is not empty.
  __device__ std::int32_t place(std::int32_t position) const {
    return caller_row(a_.row_order, a_.rows != nullptr ? __ldg(a_.rows + position) : position);
  }

  __device__ void store(std::int32_t row, float sum) const {
    store_scaled(a_.c + row * a_.ldc, sum, a_.alpha, a_.beta);
  }

  __device__ void clear_rows(int block) const {
    await_previous_kernel();
    const int first = block * kThreads * kScanEmptyRows + static_cast<int>(threadIdx.x);
#pragma unroll
    for (int i = 0; i < kScanEmptyRows; ++i)
      if (const int at = first + i * kThreads; at < a_.empty_count)
        store(caller_row(a_.row_order, __ldg(a_.empty_rows + at)), 0.0F);
  }

  const ScanArguments& a_;
  Shared& shared_;
  int warp_, lane_;
  int head_ = 0, end_ = 0;      ///< places of the block, from its first chunk
  bool elsewhere_ = false;      ///< the current row begins before the warp's nonzeros
  std::int32_t open_row_ = -1;  ///< index of the row that begins in the warp's nonzeros and ends after them
  float open_sum_ = 0.0F;
};

/// Blocks and chunks are constant for the plan and loaded before the previous kernel has ended.
template <class Tuning, bool kVector>
__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocksPerSm)
    csr_scan(const __grid_constant__ ScanArguments arguments) {
  using Warp = ScanWarp<Tuning, kVector>;
  __shared__ typename Warp::Shared shared;
  admit_next_kernel();
  Warp(arguments, shared).run(static_cast<int>(blockIdx.x));
}

}  // namespace sptile::runtime::cuda
