// Device body of the csr kernel for one column. The threads of a block read consecutive entries and multiply
// them; then all available lanes add the products of each row in shared memory. The order of sums is fixed.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/block.cuh"
#include "runtime/cuda/collective/epilogue.cuh"
#include "runtime/cuda/collective/number.cuh"
#include "runtime/cuda/collective/split.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/families/csr/stream.hpp"

namespace sptile::runtime::cuda {

/// Parameters that determine speed, not results.
template <int kThreadsPerBlock, int kEntriesPerThread, int kEntriesAtOnce, int kLeastBlocks>
struct StreamTuning {
  static constexpr int kThreads = kThreadsPerBlock;
  static constexpr StreamShape kShape = {kThreadsPerBlock, kEntriesPerThread};
  /// entries that a thread has in flight; divides kEntriesPerThread
  static constexpr int kAtOnce = kEntriesAtOnce;
  static constexpr int kBlocksPerSm = kLeastBlocks;
};

template <class T>
struct StreamArguments {
  using Value = T;
  const std::int32_t* columns;
  const T* values;  ///< null: all values are 1
  const std::int32_t* row_order;
  const std::uint16_t* ends;
  const StreamBlock* blocks;
  const CsrPiece* pieces;
  const CsrSplit* splits;
  unsigned* arrived;  ///< one counter per split
  T* partials;        ///< one per piece
  const T* b;
  T* c;
  std::int64_t ldb, ldc;
  T alpha, beta;
  int piece_count;
};

template <class ArgumentsT, class Tuning>
class StreamTeam {
 public:
  using Arguments = ArgumentsT;
  using T = typename Arguments::Value;
  static constexpr int kThreads = Tuning::kThreads, kWarps = kThreads / 32, kAtOnce = Tuning::kAtOnce;
  static constexpr StreamShape kShape = Tuning::kShape;
  static constexpr int kChunks = kShape.per_thread / kAtOnce;
  static_assert(kChunks * kAtOnce == kShape.per_thread && kShape.places() < 1 << 16);
  /// One position is skipped after kGap positions, so that lanes whose rows begin about a power of two apart
  /// access different banks.
  static constexpr int kGap = 128 / static_cast<int>(sizeof(T));
  /// Iterations of a lane after which 8 lanes process its row, and entries after which 32 lanes do.
  static constexpr int kMostTurns = 2 * kShape.per_thread, kMostOfEight = StreamPolicy{}.max_of_eight;

  struct Shared {
    T products[kShape.places() + kShape.places() / kGap];
    std::uint16_t ends[kShape.rows() + 1];  ///< ends[r] is the start of row r
    T sums[kWarps];   ///< sums of warps; for long rows, the part of a row that begins before the warp
    T begun[kWarps];  ///< sums of rows that begin in the warp's part and end after it
    std::int32_t rows[kWarps];  ///< rows of `begun`; -1: none
    bool last;
  };

  __device__ StreamTeam(const Arguments& arguments, Shared& shared)
      : a_(arguments), shared_(shared), thread_(static_cast<int>(threadIdx.x)) {}

  __device__ void run_rows(int index) const {
    const StreamBlock block = a_.blocks[index];
    if (are_long(block.rows, block.entries)) return run_long(block);
    const int head = static_cast<int>(block.entry % kStreamLine);
    const std::uint16_t* const ends = a_.ends + block.row;
    if (thread_ == 0) shared_.ends[0] = static_cast<std::uint16_t>(head);
#pragma unroll 1
    for (int row = thread_; row < block.rows; row += kThreads) shared_.ends[row + 1] = load_once(ends + row);
    await_previous_kernel();
    const std::int64_t line = block.entry - head;
#pragma unroll 1
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const int first = chunk * kAtOnce * kThreads + thread_;
      if (first - thread_ >= head + block.entries) break;
      T product[kAtOnce];
      multiply<kThreads>(line + first, head - first, head + block.entries - first, product);
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) shared_.products[place(first + u * kThreads)] = product[u];
    }
    __syncthreads();
    add_rows(block);
  }

  __device__ void run_piece(int index) const {
    const CsrPiece piece = a_.pieces[index];
    const CsrSplit split = a_.splits[piece.split];
    const int head = static_cast<int>(piece.entry % kStreamLine), end = head + piece.entries;
    await_previous_kernel();
    T sum = T(0);
#pragma unroll 1
    for (int first = thread_; first - thread_ < end; first += kAtOnce * kThreads) {
      T product[kAtOnce];
      multiply<kThreads>(piece.entry - head + first, head - first, end - first, product);
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) sum += product[u];
    }
    sum = reduce_block<kWarps>(sum, shared_.sums);
    if (split.pieces > 1) {
      if (!is_last(piece, split, index, sum)) return;
      sum = T(0);
#pragma unroll 1
      for (std::int32_t p = thread_; p < split.pieces; p += kThreads)
        sum += __ldcg(a_.partials + split.first_piece + p);
      sum = reduce_block<kWarps>(sum, shared_.sums);
    }
    if (thread_ == 0) store(split.row, sum);
  }

 private:
  __device__ static int place(int k) { return k + k / kGap; }

  /// Each warp processes a part of the positions and adds rows in registers. The rows that begin before or
  /// end after its part are combined with those of other warps.
  __device__ void run_long(const StreamBlock& block) const {
    const int head = static_cast<int>(block.entry % kStreamLine), end = head + block.entries;
    const std::uint16_t* const ends = a_.ends + block.row;
    const int lane = thread_ % 32, warp = thread_ / 32;
    const int each = (end + kThreads - 1) / kThreads * 32, begin = warp * each, stop = min(begin + each, end);
    int row = 0;
    if (warp > 0) {  // after those that end before
#pragma unroll 1
      for (int r = lane; r < block.rows; r += 32)
        if (__ldg(ends + r) <= begin) row = r + 1;
      row = __reduce_max_sync(kFullMask, row);
    }
    int start = row > 0 ? __ldg(ends + row - 1) : head;
    const bool cut = begin < stop && begin > start;
    const int first = row;
    await_previous_kernel();
    T sum = T(0), before = T(0);
#pragma unroll 1
    for (int at = begin; at < stop; at += 32 * kAtOnce) {
      T product[kAtOnce];
      multiply<32>(block.entry - head + at + lane, head - at - lane, stop - at - lane, product);
      const int next = min(at + 32 * kAtOnce, stop);
#pragma unroll 1
      for (int to = __ldg(ends + row); to <= next; to = __ldg(ends + row)) {
#pragma unroll
        for (int u = 0; u < kAtOnce; ++u)
          if (at + u * 32 + lane < to) {
            sum += product[u];
            product[u] = T(0);
          }
        sum = reduce_lanes<kWarpSize>(sum);
        if (row == first && cut)
          before = sum;
        else if (lane == 0)
          store(block.row + row, sum);
        sum = T(0);
        start = to;
        if (++row == block.rows) break;
      }
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) sum += product[u];
    }
    sum = reduce_lanes<kWarpSize>(sum);
    const bool whole = row == first && cut;  // no row ends in the part
    if (lane == 0) {
      shared_.sums[warp] = whole ? sum : before;
      shared_.begun[warp] = sum;
      shared_.rows[warp] = start < stop && row < block.rows && !whole ? row : -1;
    }
    __syncthreads();
    if (thread_ >= kWarps || shared_.rows[thread_] < 0) return;
    row = shared_.rows[thread_];
    const int to = __ldg(ends + row);
    sum = shared_.begun[thread_];
#pragma unroll 1
    for (int w = thread_ + 1; w < kWarps && w * each < to; ++w) sum += shared_.sums[w];
    store(block.row + row, sum);
  }

  /// Computes the products of the entries `at` + i * kStep that are in [begin, end), relative to `at`; 0
  /// elsewhere.
  template <int kStep>
  __device__ void multiply(std::int64_t at, int begin, int end, T (&product)[kAtOnce]) const {
    const std::int32_t* const ids = a_.columns + at;
    const T* const values = a_.values == nullptr ? nullptr : a_.values + at;
    std::int32_t id[kAtOnce];
    T value[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const int k = u * kStep;
      const bool there = k >= begin && k < end;
      id[u] = there ? load_once(ids + k) : -1;
      value[u] = !there ? T(0) : values != nullptr ? load_once(values + k) : T(1);
    }
    T x[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) x[u] = id[u] >= 0 ? __ldg(a_.b + id[u] * a_.ldb) : T(0);
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) product[u] = value[u] * x[u];
  }

  /// Assigns 1 to 32 lanes per row, depending on the number of rows; rows that are too long get more.
  __device__ void add_rows(const StreamBlock& block) const {
    int log = 5;
    while (log > 0 && block.rows << log > kThreads) --log;
    const int lane = thread_ % 32, in_row = lane & ((1 << log) - 1);
    for (int first = (thread_ - lane) >> log; first < block.rows; first += kThreads >> log) {
      const int row = first + (lane >> log);
      const bool there = row < block.rows;
      const int begin = there ? shared_.ends[row] : 0, end = there ? shared_.ends[row + 1] : 0;
      const bool together = log < 5 && end - begin > kMostTurns << log;
      T sum = together ? T(0) : add_places(begin + in_row, end, 1 << log);
      for (int apart = 1 << log >> 1; apart > 0; apart /= 2) sum += __shfl_xor_sync(kFullMask, sum, apart);
      const bool longest = together && end - begin > kMostOfEight;
      add_listed<8>(__ballot_sync(kFullMask, together && !longest && in_row == 0), begin, end, sum);
      add_listed<32>(__ballot_sync(kFullMask, longest && in_row == 0), begin, end, sum);
      if (there && in_row == 0) store(block.row + row, sum);
    }
  }

  /// Processes the rows of listed lanes of the warp, with kLanes lanes each; each lane receives its sum.
  template <int kLanes>
  __device__ void add_listed(unsigned left, int begin, int end, T& sum) const {
    constexpr int kAtATime = 32 / kLanes;
    const int lane = thread_ % 32;
    while (left != 0) {
      int from[kAtATime], mine = -1;
#pragma unroll
      for (int i = 0; i < kAtATime; ++i) {
        from[i] = __ffs(static_cast<int>(left)) - 1;  // -1 if no row is left
        left &= left - 1;
        if (lane / kLanes == i) mine = from[i];
      }
      const int first = __shfl_sync(kFullMask, begin, max(mine, 0)),
                last = __shfl_sync(kFullMask, end, max(mine, 0));
      const T whole =
          reduce_lanes<kLanes>(add_places(first + lane % kLanes, mine < 0 ? first : last, kLanes));
#pragma unroll
      for (int i = 0; i < kAtATime; ++i) {
        const T found = __shfl_sync(kFullMask, whole, i * kLanes);
        if (lane == from[i]) sum = found;
      }
    }
  }

  __device__ T add_places(int begin, int end, int step) const {
    T sum = T(0);
    for (int k = begin; k < end; k += step) sum += shared_.products[place(k)];
    return sum;
  }

  /// Stores the sum of a segment. Returns true for the last block to arrive: the sums of all segments are
  /// then visible.
  __device__ bool is_last(const CsrPiece& piece, const CsrSplit& split, int index, T sum) const {
    if (thread_ == 0) __stcg(a_.partials + index, sum);
    return block_arrives_last(a_.arrived + piece.split, split.pieces, shared_.last);
  }

  __device__ void store(std::int32_t row, T sum) const {
    store_scaled(a_.c + caller_row(a_.row_order, row) * a_.ldc, sum, a_.alpha, a_.beta);
  }

  const Arguments& a_;
  Shared& shared_;
  int thread_;
};

/// Data that is constant for the plan (rows and their ends) is loaded before the previous kernel has ended.
/// Pieces are first, because they are the longest work.
template <class Arguments, class Tuning>
__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocksPerSm)
    csr_stream(const __grid_constant__ Arguments arguments) {
  using Team = StreamTeam<Arguments, Tuning>;
  __shared__ typename Team::Shared shared;
  admit_next_kernel();
  const Team team(arguments, shared);
  const auto block = static_cast<int>(blockIdx.x);
  if (block < arguments.piece_count)
    team.run_piece(block);
  else
    team.run_rows(block - arguments.piece_count);
}

}  // namespace sptile::runtime::cuda
