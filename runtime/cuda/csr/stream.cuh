// Device body of the csr kernel for one column. All threads of a block read its entries side by side and
// multiply them; then as many lanes as there are threads for them add up each row, from shared memory. Sums
// have the same order on every run.
#pragma once

#include <cstdint>

#include "runtime/cuda/csr/stream.hpp"
#include "runtime/cuda/device/number.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/device/start_kernel.cuh"

namespace sptile::runtime::cuda {

/// Sizes that decide speed, not results.
template <int kThreadsPerBlock, int kEntriesPerThread, int kEntriesAtOnce, int kLeastBlocks>
struct StreamTuning {
  static constexpr int kThreads = kThreadsPerBlock;
  static constexpr StreamShape kShape = {kThreadsPerBlock, kEntriesPerThread};
  static constexpr int kAtOnce = kEntriesAtOnce;  ///< that a thread has on the way; divides those it reads
  static constexpr int kBlocksPerSm = kLeastBlocks;
};

template <class T>
struct StreamArguments {
  using Value = T;
  const std::int32_t* columns;
  const T* values;  ///< null: ones
  const std::int32_t* row_order;
  const std::uint16_t* ends;
  const StreamBlock* blocks;
  const CsrPiece* pieces;
  const CsrSplit* splits;
  unsigned* arrived;  ///< one counter for each split
  T* partials;        ///< of each piece
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
  /// After so many places one is left out, so that lanes whose rows begin a power of two apart, or few more
  /// or less, do not meet in one bank.
  static constexpr int kGap = 128 / static_cast<int>(sizeof(T));
  /// Rows of a thread whose ends are on their way together with its first entries.
  static constexpr int kEnds = 4;
  /// Turns of a lane after which its row is the work of the whole warp.
  static constexpr int kMostTurns = 2 * kShape.per_thread;

  struct Shared {
    T products[kShape.places() + kShape.places() / kGap];
    std::uint16_t ends[kShape.rows() + 1];  ///< ends[r] is where row r begins
    T sums[kWarps];
    bool last;
  };

  __device__ StreamTeam(const Arguments& arguments, Shared& shared)
      : a_(arguments), shared_(shared), thread_(static_cast<int>(threadIdx.x)) {}

  __device__ void run_rows(int index) const {
    const StreamBlock block = a_.blocks[index];
    const int head = static_cast<int>(block.entry % kStreamLine);
    const std::uint16_t* const ends = a_.ends + block.row;
    std::uint16_t end[kEnds];
#pragma unroll
    for (int i = 0; i < kEnds; ++i) {
      const int row = thread_ + i * kThreads;
      end[i] = row < block.rows ? load_once(ends + row) : std::uint16_t(0);
    }
    await_previous_kernel();
    const std::int64_t line = block.entry - head;
#pragma unroll 1
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const int first = chunk * kAtOnce * kThreads + thread_;
      if (first - thread_ >= head + block.entries) break;
      T product[kAtOnce];
      multiply(line + first, head - first, head + block.entries - first, product);
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) shared_.products[place(first + u * kThreads)] = product[u];
    }
    if (thread_ == 0) shared_.ends[0] = static_cast<std::uint16_t>(head);
#pragma unroll
    for (int i = 0; i < kEnds; ++i) {
      const int row = thread_ + i * kThreads;
      if (row < block.rows) shared_.ends[row + 1] = end[i];
    }
    for (int row = thread_ + kEnds * kThreads; row < block.rows; row += kThreads)
      shared_.ends[row + 1] = load_once(ends + row);
    __syncthreads();
    add_rows(block);
  }

  __device__ void run_piece(int index) const {
    const CsrPiece piece = a_.pieces[index];
    const CsrSplit split = a_.splits[piece.split];
    const int head = static_cast<int>(piece.entry % kStreamLine), end = head + piece.entries;
    await_previous_kernel();
    T sum = T(0);
    for (int first = thread_; first - thread_ < end; first += kAtOnce * kThreads) {
      T product[kAtOnce];
      multiply(piece.entry - head + first, head - first, end - first, product);
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) sum += product[u];
    }
    sum = add_block(sum);
    if (split.pieces > 1) {
      if (!is_last(piece, split, index, sum)) return;
      sum = T(0);
      for (std::int32_t p = thread_; p < split.pieces; p += kThreads)
        sum += __ldcg(a_.partials + split.first_piece + p);
      sum = add_block(sum);
      if (thread_ == 0) a_.arrived[piece.split] = 0;
    }
    if (thread_ == 0) store(split.row, sum);
  }

 private:
  __device__ static int place(int k) { return k + k / kGap; }

  /// Products of the entries `at`, and so many blocks of threads behind it, that are in [begin, end), counted
  /// from there; 0 elsewhere.
  __device__ void multiply(std::int64_t at, int begin, int end, T (&product)[kAtOnce]) const {
    const std::int32_t* const ids = a_.columns + at;
    const T* const values = a_.values == nullptr ? nullptr : a_.values + at;
    std::int32_t id[kAtOnce];
    T value[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const int k = u * kThreads;
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

  /// Rows go to 1 to 32 lanes each, to as many as there are threads for; what is too long for them to the
  /// lanes of a warp together.
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
      for (int apart = 1 << log >> 1; apart > 0; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
      for (unsigned left = __ballot_sync(~0u, together && in_row == 0); left != 0; left &= left - 1) {
        const int from = __ffs(static_cast<int>(left)) - 1;
        T whole = add_places(__shfl_sync(~0u, begin, from) + lane, __shfl_sync(~0u, end, from), 32);
        whole = add_warp(whole);
        if (lane == from) sum = whole;
      }
      if (there && in_row == 0) store(block.row + row, sum);
    }
  }

  __device__ T add_places(int begin, int end, int step) const {
    T sum = T(0);
    for (int k = begin; k < end; k += step) sum += shared_.products[place(k)];
    return sum;
  }

  __device__ static T add_warp(T sum) {
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
    return sum;
  }

  /// The sum of all threads, in each of them.
  __device__ T add_block(T sum) const {
    sum = add_warp(sum);
    __syncthreads();  // sums of an earlier call have been read
    if (thread_ % 32 == 0) shared_.sums[thread_ / 32] = sum;
    __syncthreads();
    sum = shared_.sums[0];
#pragma unroll
    for (int w = 1; w < kWarps; ++w) sum += shared_.sums[w];
    return sum;
  }

  /// Leaves the sum of a piece. True for the block that comes last: then those of all pieces are there.
  __device__ bool is_last(const CsrPiece& piece, const CsrSplit& split, int index, T sum) const {
    if (thread_ == 0) {
      __stcg(a_.partials + index, sum);
      shared_.last = count_up(a_.arrived + piece.split) + 1 == static_cast<unsigned>(split.pieces);
      __threadfence();
    }
    __syncthreads();
    return shared_.last;
  }

  __device__ void store(std::int32_t row, T sum) const {
    T* const to = a_.c + (a_.row_order != nullptr ? a_.row_order[row] : row) * a_.ldc;
    T result = a_.alpha * sum;
    if (a_.beta != T(0)) result += a_.beta * *to;
    *to = result;
  }

  const Arguments& a_;
  Shared& shared_;
  int thread_;
};

/// What does not change while the plan lives - rows and where they end - is read before the kernel before has
/// ended. Pieces come first: they are the longest work.
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
