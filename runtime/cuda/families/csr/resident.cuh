// Device body of the csr kernel that keeps B in shared memory. The 32 warps of a block have about equal work,
// including parts of rows. A warp reads 32 entries of a row at a time; its four groups of 8 lanes process
// them in turns, each with the slice of a row of B. Groups are reduced at the end of a row, warps in shared
// memory at the end, always in the same order.
#pragma once

#include <climits>
#include <cstdint>
#include <cstring>

#include "runtime/cuda/collective/block.cuh"
#include "runtime/cuda/collective/copy.cuh"
#include "runtime/cuda/collective/epilogue.cuh"
#include "runtime/cuda/collective/number.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/device/slices.cuh"
#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/families/csr/resident.hpp"

namespace sptile::runtime::cuda {

template <class T>
struct ResidentArguments {
  using Value = T;
  using Acc = typename Accumulator<T>::Type;
  const std::int64_t* row_ptr;
  const std::int32_t* columns;
  const T* values;  ///< null: all values are 1
  const std::int32_t* row_order;
  const ResidentStart* starts;
  const T* b;
  T* c;
  std::int64_t ldb, ldc, n;
  Acc alpha, beta;
  int rows_of_b, slices;
};

template <class ArgumentsT, int kLines, bool kAligned>
class ResidentTeam {
 public:
  using Arguments = ArgumentsT;
  using T = typename Arguments::Value;
  using Acc = typename Arguments::Acc;
  /// threads per block, lanes per group, groups per warp
  static constexpr int kThreads = kResidentWarps * 32, kLanes = 8, kGroups = 4;
  static constexpr int kWhole = 16 / static_cast<int>(sizeof(T));  ///< columns in 16 bytes
  static constexpr int kColumns = kLines * kWhole;                 ///< columns per lane
  static constexpr int kLineColumns = kLanes * kWhole;
  static constexpr int kRowBytes = kLines * kResidentLine;
  static constexpr int kSums = kColumns / kGroups;  ///< sums per lane after the reduction of groups
  /// Rows of B that a group has in flight: with 32 entries left, and at the end of a row.
  static constexpr int kMany = ResidentPolicy{}.rows_in_flight / kLines, kFew = ResidentPolicy{}.tail_rows;

  struct Raw {
    alignas(16) T x[kColumns];
  };
  struct Sums {
    Acc x[kSums];
  };

  __device__ ResidentTeam(const Arguments& arguments, int part, int slice)
      : a_(arguments),
        thread_(static_cast<int>(threadIdx.x)),
        lane_(thread_ % 32),
        group_(lane_ / kLanes),
        column_(slice * kLines * kLineColumns),
        starts_(arguments.starts + part * kResidentWarps + thread_ / 32),
        first_(starts_[0].entry),
        row_(static_cast<int>(starts_[0].row)),
        end_row_(static_cast<int>(starts_[1].row)),
        end_(static_cast<int>(starts_[1].entry - first_)),
        rows_of_b_(dynamic_shared() + static_cast<std::uint32_t>(lane_ % kLanes) * 16) {}

  __device__ void run() const {
    await_previous_kernel();
    keep_rows();
    const Sums last = multiply();
    __syncthreads();
    add_warps(last);
  }

 private:
  /// Copies the slice of all rows of B, followed by zeros.
  __device__ void keep_rows() const {
    constexpr int kPieces = kRowBytes / 16;
    for (int i = thread_; i < (a_.rows_of_b + 1) * kPieces; i += kThreads) {
      const int row = i / kPieces, column = column_ + i % kPieces * kWhole;
      const T* const from = a_.b + row * a_.ldb + column;
      const auto to = static_cast<std::uint32_t>(i) * 16;
      if (row == a_.rows_of_b)
        *dynamic_shared_at<uint4>(to) = {};
      else if constexpr (kAligned) {
        if (column < a_.n) copy_16(dynamic_shared() + to, from);
      } else {
        T* const elements = dynamic_shared_at<T>(to);
        for (int e = 0; e < kWhole; ++e)
          if (column + e < a_.n) elements[e] = from[e];
      }
    }
    copy_wait_all();
    __syncthreads();
  }

  struct Entry {
    std::int32_t column;
    T value;
  };

  /// Loads the lane's entry of 32 consecutive ones that start `at` after first_.
  __device__ Entry fetch(int at) const {
    Entry entry = {0, T(1.0f)};
    if (at + lane_ < end_) {
      entry.column = load_once(a_.columns + first_ + at + lane_);
      if (a_.values != nullptr) entry.value = load_once(a_.values + first_ + at + lane_);
    }
    return entry;
  }

  /// Returns the end of a row of the warp, relative to first_; INT_MAX after the last row.
  __device__ int end_of(int row) const {
    return row < end_row_ ? static_cast<int>(__ldg(a_.row_ptr + row + 1) - first_) : INT_MAX;
  }

  /// Multiplies the warp's entries and writes the rows that begin and end here. Returns the sum of the last
  /// row, which ends in a later warp. The part of a row that begins in an earlier warp is stored in shared
  /// memory.
  __device__ Sums multiply() const {
    Acc sum[kColumns] = {};
    int at = 0, end = end_of(row_);
    bool begins = first_ == a_.row_ptr[row_];
    Entry next = fetch(0);
#pragma unroll 1
    for (int row = row_; row < end_row_; ++row) {
      const int following = end_of(row + 1);
      multiply_row(at, end, next, sum);
      const Sums sums = add_groups(sum);
      if (begins)
        store(row, sums);
      else
        *head_of(thread_) = sums;
      begins = true;
      end = following;
#pragma unroll
      for (Acc& x : sum) x = Acc(0);
    }
    multiply_row(at, end_, next, sum);
    const Sums sums = add_groups(sum);
    if (!begins) *head_of(thread_) = sums;  // the row of all entries begins in an earlier warp
    return sums;
  }

  /// Multiplies the entries of a row up to `stop`; the first 32 are loaded. Lanes without an entry multiply a
  /// zero row by 0.
  __device__ void multiply_row(int& at, int stop, Entry& next, Acc (&sum)[kColumns]) const {
#pragma unroll 1
    while (at < stop) {
      const int count = stop - at;
      const bool there = lane_ < count;
      const std::int32_t row = there ? next.column : a_.rows_of_b;
      const Acc value = there ? widen(next.value) : Acc(0);
      at += min(count, 32);
      next = fetch(at);
      if (count >= 32) {
#pragma unroll
        for (int k = 0; k < 32; k += kMany * kGroups) multiply_some<kMany>(row * kRowBytes, value, k, sum);
      } else {
#pragma unroll 1
        for (int k = 0; k < count; k += kFew * kGroups) multiply_some<kFew>(row * kRowBytes, value, k, sum);
      }
    }
  }

  /// Each group multiplies kCount of the warp's 32 entries, starting at `first` plus the group's index.
  template <int kCount>
  __device__ void multiply_some(std::int32_t place, Acc value, int first, Acc (&sum)[kColumns]) const {
    Raw b[kCount];
    Acc values[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const auto row =
          static_cast<std::uint32_t>(__shfl_sync(kFullMask, place, first + i * kGroups + group_));
#pragma unroll
      for (int l = 0; l < kLines; ++l) {
        const uint4 bits = shared_piece(rows_of_b_ + row + static_cast<std::uint32_t>(l * kResidentLine));
        std::memcpy(static_cast<void*>(b[i].x + l * kWhole), &bits, sizeof bits);
      }
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) values[i] = __shfl_sync(kFullMask, value, first + i * kGroups + group_);
#pragma unroll
    for (int i = 0; i < kCount; ++i)
#pragma unroll
      for (int e = 0; e < kColumns; ++e) sum[e] += values[i] * widen(b[i].x[e]);
  }

  /// Adds the sums of the four groups. Each group keeps a quarter of the columns.
  __device__ Sums add_groups(const Acc (&sum)[kColumns]) const {
    const bool upper = group_ & 2, odd = group_ & 1;
    Acc half[kColumns / 2];
#pragma unroll
    for (int e = 0; e < kColumns / 2; ++e)
      half[e] = exchange_add(sum[e], sum[e + kColumns / 2], upper, 2 * kLanes);
    Sums sums;
#pragma unroll
    for (int e = 0; e < kSums; ++e) sums.x[e] = exchange_add(half[e], half[e + kSums], odd, kLanes);
    return sums;
  }

  /// Writes the lane's columns of a row.
  __device__ void store(int row, const Sums& sums) const {
    struct alignas(sizeof(T) * kSums) Results {
      T x[kSums];
    } results;
    const int first = group_ * kSums;  // first column of the group
    const int column = column_ + first / kWhole * kLineColumns + lane_ % kLanes * kWhole + first % kWhole;
    T* const to = a_.c + caller_row(a_.row_order, row) * a_.ldc + column;
#pragma unroll
    for (int e = 0; e < kSums; ++e) {
      Acc x = a_.alpha * sums.x[e];
      if (a_.beta != Acc(0) && column + e < a_.n) x += a_.beta * widen(to[e]);
      results.x[e] = narrow<T>(x);
    }
    if constexpr (kAligned) {
      if (column < a_.n) *reinterpret_cast<Results*>(to) = results;
    } else {
#pragma unroll
      for (int e = 0; e < kSums; ++e)
        if (column + e < a_.n) to[e] = results.x[e];
    }
  }

  /// Returns the address at which a thread stores its part of a row that begins in an earlier warp.
  __device__ Sums* head_of(int thread) const {
    return dynamic_shared_at<Sums>(static_cast<std::uint32_t>((a_.rows_of_b + 1) * kRowBytes)) + thread;
  }

  /// Adds the parts of rows that are shared by several warps in the warp where they begin.
  __device__ void add_warps(Sums sums) const {
    const std::int64_t begin = a_.row_ptr[end_row_];
    if (first_ + end_ == begin || first_ > begin) return;
    for (int w = 1; thread_ / 32 + w < kResidentWarps && starts_[w].row == end_row_; ++w) {
      const Sums more = *head_of(thread_ + w * 32);
#pragma unroll
      for (int e = 0; e < kSums; ++e) sums.x[e] += more.x[e];
    }
    store(end_row_, sums);
  }

  const Arguments& a_;
  int thread_, lane_, group_;
  int column_;                   ///< first column of the slice
  const ResidentStart* starts_;  ///< start of this warp, followed by those of later warps
  std::int64_t first_;           ///< first entry
  int row_, end_row_, end_;      ///< first row, last row and end, relative to the first entry
  std::uint32_t rows_of_b_;      ///< address of the lane's part of the first row
};

template <class Arguments, int kLines, bool kAligned>
__global__ void __launch_bounds__(kResidentWarps * 32, 1)
    csr_resident(const __grid_constant__ Arguments arguments) {
  admit_next_kernel();
  const int slice = slice_of_block(arguments.slices);
  if (slice >= arguments.slices) return;
  ResidentTeam<Arguments, kLines, kAligned>(arguments, static_cast<int>(blockIdx.x), slice).run();
}

}  // namespace sptile::runtime::cuda
