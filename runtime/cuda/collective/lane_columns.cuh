// Accesses to the columns of a dense row that a lane of a group holds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/cuda/collective/epilogue.cuh"
#include "runtime/cuda/collective/number.cuh"
#include "runtime/cuda/device/ptx.cuh"

namespace sptile::runtime::cuda {

/// Returns the lane's part of a row of B with `bytes` between rows (short_stride).
template <class Dense>
__device__ __forceinline__ const Dense* row_at(const Dense* row_0, std::int32_t row, std::uint32_t bytes) {
  return reinterpret_cast<const Dense*>(reinterpret_cast<const std::byte*>(row_0) +
                                        std::uint64_t{static_cast<std::uint32_t>(row)} * bytes);
}

/// Columns of B and C that one lane of a group holds: kVectors times 16 bytes of adjacent columns if rows are
/// aligned, otherwise kVector columns that are kLanes apart. Columns past the end are loaded from the last
/// valid position and not stored. With kVectors > 1 the caller guarantees that no columns are past the end.
template <class Dense, int kLanes, bool kAligned, int kVectors = 1>
struct LaneColumns {
  static_assert(kAligned || kVectors == 1);
  static constexpr int kWhole = 16 / static_cast<int>(sizeof(Dense));  ///< columns in 16 bytes
  static constexpr int kVector = kVectors * kWhole;
  static constexpr int kApart = kLanes * kWhole;       ///< distance of vectors
  static constexpr int kStep = kAligned ? 1 : kLanes;  ///< distance of columns
  using Acc = typename Accumulator<Dense>::Type;
  struct alignas(16) Raw {
    Dense x[kVector];
  };
  /// Elements of C in the same columns.
  template <class Result>
  struct alignas(16) RawResult {
    static constexpr int kPieces =
        kWhole * static_cast<int>(sizeof(Result)) / 16;  ///< 16-byte pieces of a vector
    Result x[kVector];
  };

  std::int64_t first;  ///< column of element 0, or the last one that may be loaded instead
  int last;            ///< distance from `first` to the last column of the lane; -1: it has no columns

  __device__ LaneColumns(int lane, std::int64_t slice, std::int64_t n) {
    const std::int64_t wanted = slice * kLanes * kVector + (kAligned ? lane * kWhole : lane);
    const std::int64_t left = n - 1 - wanted;
    first = left >= 0 ? wanted : n - (kAligned ? kWhole : 1);
    last = left < 0 ? -1 : static_cast<int>(min(left, std::int64_t{kVector * kLanes}));
  }

  /// Loads the lane's columns of a row of B; `row` points to column `first`.
  __device__ Raw load(const Dense* row) const {
    Raw raw;
    if constexpr (kAligned) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const uint4 bits = __ldg(reinterpret_cast<const uint4*>(row + v * kApart));
        __builtin_memcpy(raw.x + v * kWhole, &bits, sizeof bits);
      }
    } else {
#pragma unroll
      for (int e = 0; e < kVector; ++e) raw.x[e] = row[max(min(e * kStep, last), 0)];
    }
    return raw;
  }

  /// Keeps the compiler from widening elements before their use, which would take twice the registers.
  __device__ static void keep_raw(Raw& raw) {
    std::uint32_t words[sizeof(Raw) / 4];
    __builtin_memcpy(words, &raw, sizeof(raw));
#pragma unroll
    for (std::uint32_t& word : words) keep(word);
    __builtin_memcpy(&raw, words, sizeof(raw));
  }

  /// Loads the current elements of C, past L1; columns that the lane does not have are 0.
  template <class Result>
  __device__ RawResult<Result> load_written(const Result* row) const {
    RawResult<Result> raw = {};
    if constexpr (kAligned) {
      if (last < 0) return raw;
      uint4 bits[kVectors][raw.kPieces];
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
#pragma unroll
        for (int i = 0; i < raw.kPieces; ++i)
          bits[v][i] = __ldcg(reinterpret_cast<const uint4*>(row + v * kApart) + i);
      __builtin_memcpy(&raw, bits, sizeof(raw));
    } else {
#pragma unroll
      for (int e = 0; e < kVector; ++e)
        if (e * kStep <= last) raw.x[e] = __ldcg(row + e * kStep);
    }
    return raw;
  }

  /// Stores alpha * sum + beta * C.
  template <class Result>
  __device__ void store(Result* row, const Acc (&sum)[kVector], Acc alpha, Acc beta) const {
    Acc result[kVector];
#pragma unroll
    for (int e = 0; e < kVector; ++e) result[e] = alpha * sum[e];
    if (beta != Acc(0)) {
      const RawResult<Result> old = load_written(row);
#pragma unroll
      for (int e = 0; e < kVector; ++e) result[e] += beta * widen(old.x[e]);
    }
    if constexpr (kAligned) {
      RawResult<Result> raw;
#pragma unroll
      for (int e = 0; e < kVector; ++e) raw.x[e] = narrow<Result>(result[e]);
      uint4 bits[kVectors][raw.kPieces];
      __builtin_memcpy(bits, &raw, sizeof(bits));
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
#pragma unroll
        for (int i = 0; i < raw.kPieces; ++i)
          if (last >= 0) __stcs(reinterpret_cast<uint4*>(row + v * kApart) + i, bits[v][i]);
    } else {
#pragma unroll
      for (int e = 0; e < kVector; ++e)
        if (e * kStep <= last) row[e * kStep] = narrow<Result>(result[e]);
    }
  }
};

/// The same interface for a single column.
template <class Dense, int kLanes>
struct LaneColumn {
  static constexpr int kVector = 1;
  using Acc = typename Accumulator<Dense>::Type;
  struct Raw {
    Dense x[1];
  };
  std::int64_t first;
  int last;

  __device__ LaneColumn(int lane, std::int64_t slice, std::int64_t n) {
    const std::int64_t wanted = slice * kLanes + lane;
    first = min(wanted, n - 1);
    last = wanted < n ? 0 : -1;
  }
  __device__ Raw load(const Dense* row) const { return {{__ldg(row)}}; }
  __device__ static void keep_raw(Raw&) {}
  __device__ void store(Dense* row, const Acc (&sum)[1], Acc alpha, Acc beta) const {
    if (last >= 0) store_scaled(row, sum[0], alpha, beta);
  }
};

}  // namespace sptile::runtime::cuda
