// Sums of a consumer warp of a tall block for a window, which are stored to C or to the slot of a segment.
#pragma once

#include <cstddef>

#include "runtime/cuda/collective/mma.cuh"
#include "runtime/cuda/collective/split.cuh"
#include "runtime/cuda/families/tall/lanes.hpp"
#include "runtime/cuda/families/tall/task.cuh"

namespace sptile::runtime::cuda {

/// Compile-time parameters of a kernel.
template <class V, class MathT, int kSubWindowsT, int kSegmentsT, int kWarpsT, int kBlocksT>
struct TallKernel {
  using Value = V;
  using Math = MathT;
  using Dense = typename Math::Dense;
  using Result = typename Math::Result;
  using Acc = typename Math::Acc;
  static constexpr int kSubWindows = kSubWindowsT;
  static constexpr int kSegments = kSegmentsT;
  static constexpr int kWarps = kWarpsT;    ///< maximum consumer warps per block
  static constexpr int kBlocks = kBlocksT;  ///< blocks of that size per multiprocessor
  static constexpr int kElements = Math::kElements;
  static constexpr int kSegmentFeatures = 8 * kElements;
  static constexpr int kStored = kElements;  ///< adjacent elements of C per lane
  static constexpr int kVariantSegments = kSegments;
  static constexpr bool kDense = false;     ///< tiles are multiplied as dense ones, see TallDenseTiles
  static constexpr bool kSwizzled = false;  ///< rows of B are operands of wgmma, see TallUprightTiles
  static constexpr int kValueBytes = std::is_same_v<V, Ones> ? 0 : static_cast<int>(sizeof(V));
  static_assert(kElements * sizeof(Dense) == 16);
};

/// Part of a block's window and slice that a consumer warp owns: its first sub-window and segment.
struct TallPart {
  int slice, warp, lane;
  int sub_window, segment;
};
template <class K>
__device__ __forceinline__ TallPart tall_part(const TallTask& task, int slice, int warp, int lane) {
  return {slice, warp, lane, warp / task.feature_warps * K::kSubWindows,
          warp % task.feature_warps * K::kSegments};
}

/// Rows of a finished window.
struct TallPlace {
  std::int32_t row;
  int rows;
};

template <class K>
class TallResult {
  using Math = typename K::Math;
  using Result = typename K::Result;
  using Acc = typename K::Acc;
  static constexpr int kSubWindows = K::kSubWindows;

 public:
  using Sums = typename Math::Sums;
  using Window = Sums[kSubWindows][K::kSegments];

  __device__ __forceinline__ TallResult(const TallTask& task, const TallPart& part)
      : task_(task), part_(part) {
    clear();
  }

  __device__ __forceinline__ void clear() {
    constexpr int kCount = sizeof(Sums) / sizeof(Acc);
#pragma unroll
    for (int h = 0; h < kSubWindows; ++h)
#pragma unroll
      for (int s = 0; s < K::kSegments; ++s)
#pragma unroll
        for (int i = 0; i < kCount; ++i) (&sums[h][s][0][0])[i] = Acc{0};
  }

  /// Stores the sums at the end of a window or of a segment of it, whose slot is `slot`; -1: an entire
  /// window.
  __device__ __forceinline__ void end_window(const TallPlace& place, std::int32_t slot) {
    if (slot < 0 || bring_piece(place, slot)) store(place);
    clear();
  }

  Window sums;

 private:
  /// Stores the sums of a segment. Returns true to the last warp of the window, which then has its sums.
  __device__ __forceinline__ bool bring_piece(const TallPlace& place, std::int32_t slot) {
    const TallPiece piece = task_.pieces[slot];
    store_partial(place, slot);
    if (!is_last(piece)) return false;
    sum_pieces(place, piece);
    return true;
  }

  /// Returns the lane's first feature of a segment.
  [[nodiscard]] __device__ __forceinline__ std::int64_t feature(int s) const {
    return std::int64_t{part_.slice} * task_.slice_segments * K::kSegmentFeatures +
           lane_feature(part_.lane, part_.segment + s, K::kElements);
  }

  /// Returns the row in the window of result r of sub-window h.
  [[nodiscard]] __device__ __forceinline__ int row_of(int h, int r) const {
    return 8 * (part_.sub_window + h) + lane_result_row(part_.lane, r);
  }

  /// Calls f(row in the window, sub-window h, result r) for the rows of the lane.
  template <class F>
  __device__ __forceinline__ void for_each_row(const TallPlace& place, const F& f) {
#pragma unroll
    for (int h = 0; h < kSubWindows; ++h)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int row = row_of(h, r);
        if (row < place.rows) f(row, h, r);
      }
  }

  __device__ __forceinline__ void store(const TallPlace& place) {
    for_each_row(place, [&](int row, int h, int r) {
      const std::int32_t from = place.row + row;
      const std::int64_t to_row = task_.row_order != nullptr ? __ldg(task_.row_order + from) : from;
      Result* const to = static_cast<Result*>(task_.c) + to_row * task_.ldc + feature(0);
      const int left = static_cast<int>(min(task_.n - feature(0), std::int64_t{1} << 30));
#pragma unroll
      for (int s = 0; s < K::kSegments; ++s) {
        Acc sum[K::kElements];
#pragma unroll
        for (int e = 0; e < K::kElements; ++e) sum[e] = Math::sum_at(sums[h][s], e, r);
        const int skip = s * K::kSegmentFeatures;
        if (task_.whole_pieces)
          store_piece<true>(to + skip, sum, scale_of<Acc>(task_), left - skip);
        else
          store_piece<false>(to + skip, sum, scale_of<Acc>(task_), left - skip);
      }
    });
  }

  using Piece = Vec<Acc, K::kElements>;

  /// Returns the features of a slice.
  [[nodiscard]] __device__ __forceinline__ int features() const {
    return (K::kDense ? kWarpgroup : task_.slice_segments) * K::kSegmentFeatures;
  }

  /// Returns the address of the lane's partial sums of a row of the window, in its first segment.
  [[nodiscard]] __device__ __forceinline__ Acc* partial(std::int64_t slot, int row) const {
    const std::int64_t rows = std::int64_t{8 * kSubWindows} * task_.row_warps;
    return static_cast<Acc*>(task_.partials) +
           ((slot * task_.slices + part_.slice) * rows + row) * features() +
           lane_feature(part_.lane, part_.segment, K::kElements);
  }

  __device__ __forceinline__ void store_partial(const TallPlace& place, std::int32_t slot) {
    for_each_row(place, [&](int row, int h, int r) {
      Acc* const to = partial(slot, row);
#pragma unroll
      for (int s = 0; s < K::kSegments; ++s) {
        Piece piece;
#pragma unroll
        for (int e = 0; e < K::kElements; ++e) piece.e[e] = Math::sum_at(sums[h][s], e, r);
        store_vector<Cache::l2>(to + s * K::kSegmentFeatures, piece);
      }
    });
  }

  /// Counts the pieces of the warp's part of the window. Returns true for the last piece to arrive. The
  /// last piece varies between runs, the order of the additions does not.
  __device__ __forceinline__ bool is_last(const TallPiece& piece) const {
    const std::int64_t warps = task_.row_warps * task_.feature_warps;
    return warp_arrives_last(
        task_.arrived + (std::int64_t{piece.first_slot} * task_.slices + part_.slice) * warps + part_.warp,
        piece.count, part_.lane);
  }

  /// Loads several rows of pieces concurrently, limited by registers.
  __device__ __forceinline__ void sum_pieces(const TallPlace& place, const TallPiece& piece_of) {
    constexpr int kTogether = kSubWindows == 16 ? 2 : kSubWindows == 8 ? 4 : kSubWindows;
    clear();
#pragma unroll 1
    for (std::int32_t p = 0; p < piece_of.count; ++p)
#pragma unroll
      for (int first = 0; first < kSubWindows; first += kTogether)
        add_partial<kTogether>(place, piece_of.first_slot + p, first);
  }

  template <int kCount>
  __device__ __forceinline__ void add_partial(const TallPlace& place, std::int64_t slot, int first) {
    const Acc* const begin = partial(slot, row_of(first, 0));
    Piece pieces[kCount][2][K::kSegments];
#pragma unroll
    for (int h = 0; h < kCount; ++h)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const Acc* const from = begin + (8 * h + r) * features();
#pragma unroll
        for (int s = 0; s < K::kSegments; ++s) {
          pieces[h][r][s] = {};
          if (row_of(first + h, r) < place.rows)
            pieces[h][r][s] = load_vector<Piece, Cache::l2>(from + s * K::kSegmentFeatures);
        }
      }
#pragma unroll
    for (int h = 0; h < kCount; ++h)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int s = 0; s < K::kSegments; ++s)
#pragma unroll
          for (int e = 0; e < K::kElements; ++e)
            Math::sum_at(sums[first + h][s], e, r) += pieces[h][r][s].e[e];
  }

  const TallTask& task_;
  TallPart part_;
};

}  // namespace sptile::runtime::cuda
