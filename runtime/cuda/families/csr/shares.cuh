// Device body of csr.shares. The groups of a block multiply equal numbers of consecutive nonzeros. The sums
// of rows that begin in one group and end in another are combined in shared memory, and those of segments of
// a row by the last block of the row to arrive. The order of additions is fixed.
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/csr_walk.cuh"
#include "runtime/cuda/collective/epilogue.cuh"
#include "runtime/cuda/collective/lane_columns.cuh"
#include "runtime/cuda/collective/lanes.hpp"
#include "runtime/cuda/collective/split.cuh"
#include "runtime/cuda/collective/vector.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/device/slices.cuh"
#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/families/csr/shares.hpp"

namespace sptile::runtime::cuda {

/// Kernels are compiled once for all devices.
inline constexpr SharesPolicy kSharesPolicy = shares_policy_for(80);
inline constexpr int kSharesGroups = kSharesPolicy.threads / kSharesPolicy.lanes;

struct SharesArguments {
  const std::int32_t* columns;
  const float* values;  ///< null: all values are 1
  const RowChunk* chunks;
  const std::int32_t* rows;  ///< ids of the rows that are not empty; null: 0, 1, ...
  const std::int32_t* empty_rows;
  const std::int32_t* row_order;
  const CsrPiece* blocks;
  const CsrSplit* splits;
  unsigned* arrived;  ///< one counter per split row and slice
  float* partials;    ///< [segment][slice][lane][element]
  const float* b;
  float* c;
  std::int64_t ldb, ldc, n, entries;
  float alpha, beta;
  std::uint32_t b_bytes;  ///< bytes between rows of B, if operands are aligned
  int block_count, row_count, empty_count, slices;
  bool vectors;  ///< columns and values can be loaded 16 bytes at a time
};

/// Rows of C that a group clears if they are empty.
inline constexpr int kSharesEmptyRows = 8;

template <bool kAligned>
class SharesGroup {
 public:
  static constexpr int kLanes = kSharesPolicy.lanes, kGroups = kSharesGroups;
  static constexpr int kAtOnce = kSharesPolicy.rows_in_flight;
  static constexpr int kPerLane = kRowChunk / kLanes;  ///< nonzeros of a chunk that a lane loads
  static_assert(kPerLane == 4 && kAtOnce % 2 == 0 && kRowChunk % kAtOnce == 0);
  using Columns = LaneColumns<float, kLanes, kAligned>;
  static constexpr int kVector = Columns::kVector;
  using Sum = float[kVector];

  struct Shared {
    alignas(16) StagedEntry<float> entries[kGroups][kRowChunk];
    Vec<float, kVector> heads[kGroups][kLanes];  ///< sum of the group for the row that begins before it
    bool ended[kGroups];                         ///< that row ends in the group
    bool last;
  };

  __device__ SharesGroup(const SharesArguments& arguments, Shared& shared, int slice)
      : a_(arguments),
        shared_(shared),
        group_(static_cast<int>(threadIdx.x) / kLanes),
        lane_(static_cast<int>(threadIdx.x) % kLanes),
        slice_(slice),
        columns_(lane_, slice, arguments.n),
        b_(arguments.b + columns_.first) {}

  __device__ void run(int block) {
    if (block >= a_.block_count) {
      clear_rows(block - a_.block_count);
      return;
    }
    const CsrPiece work = a_.blocks[block];
    const int head = static_cast<int>(work.entry % kRowChunk), end = head + work.entries;
    const int chunks = (end + kRowChunk - 1) / kRowChunk, each = (chunks + kGroups - 1) / kGroups;
    const int active = (chunks + each - 1) / each;
    const std::int64_t first = work.entry / kRowChunk;
    walk(work, first, head, end, group_ * each, min(group_ * each + each, chunks), each);
    __syncthreads();
    if (work.split >= 0)
      finish_segment(work, block, active);
    else if (open_ && !elsewhere_ && group_ + 1 < active) {
      add_heads(group_ + 1, active);
      write(to_);
    }
  }

 private:
  /// Nonzeros of a chunk that are in flight.
  struct Taken {
    std::int32_t column[kPerLane];
    float value[kPerLane];
    std::uint32_t ends;
  };

  /// Processes chunks `from` to `stop` - 1 of the block, of which there are at most `each`. `first` is the
  /// block's first chunk; its nonzeros are places `head` to `end` - 1.
  __device__ void walk(const CsrPiece& work, std::int64_t first, int head, int end, int from, int stop,
                       int each) {
    const RowChunk* const chunks = a_.chunks + first + from;
    Taken next = {};
    if (from < stop) {
      const RowChunk chunk = *chunks;
      next.ends = chunk.ends;
      position_ = chunk.row + (from == 0 ? static_cast<int>(count_bits(chunk.ends & bits_below(head))) : 0);
      elsewhere_ = from == 0 ? work.split >= 0 : chunks[-1].ends >> (kRowChunk - 1) == 0;
      to_ = place(position_);
    }
    await_previous_kernel();
    if (from < stop) fetch(first + from, next);
#pragma unroll 1
    for (int i = 0; i < each; ++i) {
      const int chunk = from + i;
      const std::uint32_t ends = next.ends;
      stage(next);
      if (chunk + 1 < stop) {
        next.ends = chunks[i + 1].ends;
        fetch(first + chunk + 1, next);
      }
      const int place = chunk * kRowChunk;
      if (chunk < stop) use(ends, max(head - place, 0), min(end - place, kRowChunk));
    }
    if (from < stop && elsewhere_) put_head(false);
  }

  __device__ void fetch(std::int64_t chunk, Taken& taken) const {
    const std::int64_t base = chunk * kRowChunk, at = base + lane_ * kPerLane;
    if (a_.vectors && base + kRowChunk <= a_.entries) {
      const uint4 columns = load_once(reinterpret_cast<const uint4*>(a_.columns + at));
      __builtin_memcpy(taken.column, &columns, sizeof columns);
      if (a_.values == nullptr) return set_ones(taken);
      const uint4 values = load_once(reinterpret_cast<const uint4*>(a_.values + at));
      __builtin_memcpy(taken.value, &values, sizeof values);
      return;
    }
    if (a_.values == nullptr) set_ones(taken);
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      const std::int64_t k = min(at + i, a_.entries - 1);  // places past the end are not used
      taken.column[i] = load_once(a_.columns + k);
      if (a_.values != nullptr) taken.value[i] = load_once(a_.values + k);
    }
  }

  __device__ static void set_ones(Taken& taken) {
#pragma unroll
    for (float& value : taken.value) value = 1.0F;
  }

  __device__ void stage(const Taken& taken) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kPerLane; ++i)
      shared_.entries[group_][lane_ * kPerLane + i] = {taken.column[i], taken.value[i]};
    __syncwarp();
  }

  /// Multiplies places `from` to `to` - 1 of the chunk in shared memory. Rows of B of other places that are
  /// loaded at the same time are not added, as they may not be finite.
  __device__ void use(std::uint32_t ends, int from, int to) {
    ends &= bits_below(to) & ~bits_below(from);
    const StagedEntry<float>* const entries = shared_.entries[group_];
#pragma unroll 1
    for (int j = from / kAtOnce * kAtOnce; j < to; j += kAtOnce) {
      typename Columns::Raw b[kAtOnce];
      float value[kAtOnce];
#pragma unroll
      for (int u = 0; u < kAtOnce; u += 2) {
        const auto two = *reinterpret_cast<const uint4*>(entries + j + u);
        value[u] = __uint_as_float(two.y);
        value[u + 1] = __uint_as_float(two.w);
        b[u] = columns_.load(row_of_b(two.x));
        b[u + 1] = columns_.load(row_of_b(two.z));
      }
      const std::uint32_t here = ends >> j & bits_below(kAtOnce);
      if (here == 0 && j >= from) {
#pragma unroll
        for (int u = 0; u < kAtOnce; ++u) add(value[u], b[u]);
      } else {
        add_rows(value, b, max(from - j, 0), here);
      }
    }
    open_ = (ends >> (to - 1) & 1) == 0;
  }

  /// Adds products from number `first` on and ends rows after those of `ends`. Rows end at one position in
  /// the code, which takes fewer registers than one per product.
  __device__ void add_rows(const float (&value)[kAtOnce], typename Columns::Raw (&b)[kAtOnce], int first,
                           std::uint32_t ends) {
    for (;;) {
      const int stop = ends == 0 ? kAtOnce : __ffs(static_cast<int>(ends));
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) Columns::keep_raw(b[u]);
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u)
        if (first <= u && u < stop) add(value[u], b[u]);
      if (ends == 0) return;
      end_row();
      ends &= ends - 1;
      first = stop;
    }
  }

  /// Returns the lane's part of a row of B.
  __device__ const float* row_of_b(std::uint32_t row) const {
    if constexpr (kAligned)
      return row_at(b_, static_cast<std::int32_t>(row), a_.b_bytes);
    else
      return b_ + row * a_.ldb;
  }

  __device__ void add(float value, const typename Columns::Raw& b) {
#pragma unroll
    for (int e = 0; e < kVector; ++e) sum_[e] += value * b.x[e];
  }

  __device__ void clear() {
#pragma unroll
    for (float& x : sum_) x = 0.0F;
  }

  __device__ void end_row() {
    if (elsewhere_)
      put_head(true);
    else
      write(to_);
    elsewhere_ = false;
    clear();
    to_ = place(++position_);
  }

  __device__ void put_head(bool ended) {
    Vec<float, kVector> head;
    __builtin_memcpy(&head, sum_, sizeof sum_);
    shared_.heads[group_][lane_] = head;
    shared_.ended[group_] = ended;
  }

  /// Adds the sums of groups `from` to `to` - 1 for the row that begins before them.
  __device__ void add_heads(int from, int to) {
    for (int g = from; g < to; ++g) {
      const Vec<float, kVector> head = shared_.heads[g][lane_];
#pragma unroll
      for (int e = 0; e < kVector; ++e) sum_[e] += head.e[e];
      if (shared_.ended[g]) break;
    }
  }

  __device__ float* partial(std::int64_t piece) const {
    return a_.partials + (part_index(piece, 1, 0, a_.slices, slice_) * kLanes + lane_) * kVector;
  }

  /// Adds the sums of all groups; if the row has other segments, the last block adds those in order. All
  /// threads of the block call it.
  __device__ void finish_segment(const CsrPiece& work, int block, int active) {
    const CsrSplit split = a_.splits[work.split];
    clear();
    if (group_ == 0) add_heads(0, active);
    if (split.pieces > 1) {
      if (group_ == 0) store_partial(partial(block), sum_);
      unsigned* const arrived = a_.arrived + part_index(work.split, 1, 0, a_.slices, slice_);
      if (!block_arrives_last(arrived, split.pieces, shared_.last)) return;
      clear();
#pragma unroll 4
      for (int p = group_; p < split.pieces; p += kGroups) add_partial(sum_, partial(split.first_piece + p));
      put_head(false);
      __syncthreads();
      if (group_ == 0) {
        clear();
        add_heads(0, kGroups);
      }
    }
    if (group_ == 0) write(caller_row(a_.row_order, split.row));
  }

  /// Returns the row of C of a row that is not empty. Rows past the end may be requested, but are not used.
  __device__ std::int32_t place(std::int32_t position) const {
    if (a_.rows == nullptr && a_.row_order == nullptr) return position;
    const std::int32_t there = min(position, a_.row_count - 1);
    return caller_row(a_.row_order, a_.rows != nullptr ? __ldg(a_.rows + there) : there);
  }

  __device__ void write(std::int32_t row) const {
    columns_.store(a_.c + row * a_.ldc + columns_.first, sum_, a_.alpha, a_.beta);
  }

  __device__ void clear_rows(int block) {
    await_previous_kernel();
    const int first = (block * kGroups + group_) * kSharesEmptyRows;
    for (int i = first; i < min(first + kSharesEmptyRows, a_.empty_count); ++i)
      write(caller_row(a_.row_order, __ldg(a_.empty_rows + i)));
  }

  const SharesArguments& a_;
  Shared& shared_;
  int group_, lane_, slice_;
  Columns columns_;
  const float* b_;  ///< row 0 at the lane's first column
  Sum sum_ = {};
  std::int32_t position_ = 0, to_ = 0;  ///< the current row: its index, and its row of C
  bool elsewhere_ = false;              ///< the current row begins before the group
  bool open_ = false;                   ///< the last nonzero of the group is not the last of its row
};

/// Data that is constant for the plan is loaded before the previous kernel has ended.
template <bool kAligned>
__global__ void __launch_bounds__(kSharesPolicy.threads, kSharesPolicy.blocks)
    csr_shares(const __grid_constant__ SharesArguments arguments) {
  using Group = SharesGroup<kAligned>;
  __shared__ typename Group::Shared shared;
  admit_next_kernel();
  const int slice = slice_of_block(arguments.slices);
  if (slice >= arguments.slices) return;
  Group(arguments, shared, slice).run(static_cast<int>(blockIdx.x));
}

}  // namespace sptile::runtime::cuda
