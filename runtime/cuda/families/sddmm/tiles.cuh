// SDDMM of entries stored in tiles, on tensor cores. A warp processes some tiles of one window. It keeps the
// window's rows of X in registers, loads the rows of Y of 16 columns (two tiles) directly into fragments, and
// writes the results selected by the masks. Their positions follow from the lane's bit of the mask and the
// bits below it (Libra, section 4.4.2), without shared memory.
#pragma once

#include <cstdint>

#include "runtime/cuda/families/sddmm/math.cuh"
#include "runtime/cuda/families/sddmm/task.cuh"

namespace sptile::runtime::cuda {

/// Returns the row of its 8 whose X a lane of group `group` loads, chosen so that the results of a lane, in
/// columns 2t and 2t + 1 of the MMA, are of rows t and t + 4.
SPTILE_HOST_DEVICE constexpr int result_row(int group) { return group / 2 + 4 * (group % 2); }

/// Output positions of a lane's results of one tile: rows t and t + 4 of each 8, column g.
template <int kHalves>
struct ResultPlaces {
  LanePair half[kHalves];
  std::uint32_t count;  ///< entries of the tile
};

/// Bits are 8 * row + column: the lane has the same bit of both words of 8 rows.
__device__ __forceinline__ LanePair result_pair(std::uint32_t low, std::uint32_t high, std::uint32_t bit) {
  return {{count_bits(low & (bit - 1u)), count_bits(low) + count_bits(high & (bit - 1u))},
          {(low & bit) != 0, (high & bit) != 0}};
}

/// A source whose tiles have stored masks.
template <class Source>
struct StoredMask : Source {
  static __device__ __forceinline__ typename Source::Mask mask(const TilePart& part, std::int64_t tile) {
    return __ldg(static_cast<const typename Source::Mask*>(part.arrays.masks) + tile);
  }
};

struct SddmmMask8 : StoredMask<Mask8> {
  static __device__ __forceinline__ std::uint32_t bit_of(int group, int member) {
    return 1u << (8 * member + group);
  }
  static __device__ __forceinline__ ResultPlaces<1> places(const Mask& mask, std::uint32_t bit, int) {
    return {{result_pair(mask.x, mask.y, bit)}, count_bits(mask.x) + count_bits(mask.y)};
  }
};

struct SddmmMask16 : StoredMask<Mask16> {
  static __device__ __forceinline__ std::uint32_t bit_of(int group, int member) {
    return SddmmMask8::bit_of(group, member);
  }
  static __device__ __forceinline__ ResultPlaces<2> places(const Mask& mask, std::uint32_t bit, int) {
    ResultPlaces<2> p{{result_pair(mask.x, mask.y, bit), result_pair(mask.z, mask.w, bit)}, 0};
    const std::uint32_t upper = count_bits(mask.x) + count_bits(mask.y);
    p.half[1].index[0] += upper;
    p.half[1].index[1] += upper;
    p.count = upper + count_bits(mask.z) + count_bits(mask.w);
    return p;
  }
};

/// Four words of 8 rows x 4 columns: left upper, left lower, right upper, right lower.
struct SddmmWords16 : StoredMask<Words16> {
  static __device__ __forceinline__ std::uint32_t bit_of(int group, int member) {
    return 1u << (4 * member + group % 4);
  }
  static __device__ __forceinline__ ResultPlaces<2> places(const Mask& mask, std::uint32_t bit, int group) {
    const bool left = group < 4;
    const std::uint32_t word[2] = {left ? mask.x : mask.z, left ? mask.y : mask.w};
    const std::uint32_t left_count = count_bits(mask.x) + count_bits(mask.y);
    std::uint32_t before = left ? 0 : left_count;
    ResultPlaces<2> p{};
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const std::uint32_t lower = word[h] >> 16;  // rows 4 to 7
      const std::uint32_t upper = word[h] & 0xffffu;
      p.half[h] = {{before + count_bits(upper & (bit - 1u)),
                    before + count_bits(upper) + count_bits(lower & (bit - 1u))},
                   {(upper & bit) != 0, (lower & bit) != 0}};
      before += count_bits(word[h]);
    }
    p.count = left_count + count_bits(mask.z) + count_bits(mask.w);
    return p;
  }
};

template <class SourceT, class MathT, int kStepsT, bool kVectorT>
struct SddmmShape {
  using Source = SourceT;
  using Math = MathT;
  using Dense = typename Math::Dense;
  using Result = typename Math::Result;
  static constexpr int kHalves = Source::kHalves;
  static constexpr int kSteps = kStepsT;  ///< pieces of a row per lane, half of them in flight
  static constexpr bool kVector = kVectorT;
  static constexpr int kStep = 4 * Math::kElements;
  static constexpr int kFeatures = kSteps * kStep;  ///< features per pass
  static constexpr int kHalfSteps = kSteps / 2;
  static_assert(kSteps % 2 == 0);
};

template <class S>
class SddmmTiles {
  using Math = typename S::Math;
  using Source = typename S::Source;
  using Dense = typename S::Dense;
  using Chunk = typename Math::Chunk;

  /// Mode of a run: fast, with tensor cores, or checked, which recomputes non-finite results in IEEE
  /// arithmetic.
  enum class Results : std::uint8_t { fast, checked };

  /// Prefetched data: the columns of the lane's two rows of Y, and the masks.
  struct Head {
    std::int32_t column[2];
    typename Source::Mask mask[2];
    std::int32_t tiles;  ///< valid tiles of the two
  };

 public:
  __device__ __forceinline__ SddmmTiles(const TilePart& part, const SddmmDense& dense, int lane)
      : part_(part),
        dense_(dense),
        group_(lane_group(lane)),
        first_(lane_member(lane) * Math::kElements),
        bit_(Source::bit_of(lane_group(lane), lane_member(lane))) {}

  /// Returns whether run_again has results to write, in any lane: non-finite ones, or all if they are added
  /// to old ones.
  __device__ __forceinline__ bool run(const SddmmItem& item) {
    if (Math::kDoubtsNonfinite && part_.results.beta != 0) return true;
    item_ = item;
    find_rows();
    if (dense_.n <= S::kFeatures)
      run_pipelined();
    else
      run_in_passes<Results::fast>();
    return Math::kDoubtsNonfinite && __any_sync(~0u, doubt_ != 0);
  }

  __device__ __forceinline__ void run_again(const SddmmItem& item) {
    item_ = item;
    find_rows();
    run_in_passes<Results::checked>();
  }

 private:
  /// Finds the lane's rows of X.
  __device__ __forceinline__ void find_rows() {
#pragma unroll
    for (int h = 0; h < S::kHalves; ++h) {
      const std::int32_t row = item_.row + 8 * h + result_row(group_);
      row_[h] = row >= part_.rows ? -1 : dense_.row(row);
    }
  }

  /// Prefetches; past the end, the last tile again.
  __device__ __forceinline__ Head read_head(std::int32_t tile) const {
    Head head;
    head.tiles = item_.tile_end - tile;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const std::int64_t t = min(tile + k, item_.tile_end - 1);
      head.column[k] = __ldg(part_.arrays.columns + 8 * t + group_);
      head.mask[k] = Source::mask(part_, t);
    }
    return head;
  }

  /// Half of the pieces of rows: of X, for the window; of Y, for two tiles.
  using HalfX = Chunk[S::kHalves][S::kHalfSteps];
  using HalfY = Chunk[2][S::kHalfSteps];
  static constexpr int kHalfFeatures = S::kFeatures / 2;

  /// Processes all features at once. The rows of X stay in registers. While half of the features of two tiles
  /// are multiplied, the other half, or that of the next two tiles, is in flight.
  __device__ __forceinline__ void run_pipelined() {
    HalfX x[2];
    HalfY y[2];
    Head head = read_head(item_.tile_begin);
    load_y(y[0], head, first_);
    load_x(x[0], first_);
    load_x(x[1], first_ + kHalfFeatures);
    Head next = read_head(item_.tile_begin + 2);
    std::int64_t at = item_.value_begin;
    for (std::int32_t tile = item_.tile_begin; tile < item_.tile_end; tile += 2) {
      float sum[S::kHalves][4] = {};
      load_y(y[1], head, first_ + kHalfFeatures);
      multiply(sum, x[0], y[0]);
      load_y(y[0], next, first_);
      multiply(sum, x[1], y[1]);
      at = write_pair<Results::fast>(sum, head, at);
      head = next;
      next = read_head(tile + 4);
    }
  }

  /// Processes more features than registers hold: both operands are loaded again in each pass.
  template <Results kResults>
  __device__ __forceinline__ void run_in_passes() {
    std::int64_t at = item_.value_begin;
    for (std::int32_t tile = item_.tile_begin; tile < item_.tile_end; tile += 2) {
      const Head head = read_head(tile);
      float sum[S::kHalves][4] = {};
      for (std::int64_t feature = first_; feature - first_ < dense_.n; feature += kHalfFeatures) {
        HalfX x;
        HalfY y;
        load_y(y, head, feature);
        load_x(x, feature);
        multiply(sum, x, y);
      }
      at = write_pair<kResults>(sum, head, at);
    }
  }

  __device__ __forceinline__ void load_x(HalfX& x, std::int64_t feature) const {
#pragma unroll
    for (int h = 0; h < S::kHalves; ++h)
      load(x[h], dense_.x, dense_.x_stride, max(row_[h], 0), feature, row_[h] >= 0);
  }

  __device__ __forceinline__ void load_y(HalfY& y, const Head& head, std::int64_t feature) const {
#pragma unroll
    for (int k = 0; k < 2; ++k)
      load(y[k], dense_.y, dense_.y_stride, head.column[k], feature, head.tiles > k);
  }

  __device__ __forceinline__ void multiply(float (&sum)[S::kHalves][4], const HalfX& x,
                                           const HalfY& y) const {
#pragma unroll
    for (int s = 0; s < S::kHalfSteps; ++s)
#pragma unroll
      for (int h = 0; h < S::kHalves; ++h) Math::multiply(sum[h], y[0][s], y[1][s], x[h][s]);
  }

  __device__ __forceinline__ void load(Chunk (&chunk)[S::kHalfSteps], const std::byte* rows,
                                       std::uint64_t stride, std::int32_t row, std::int64_t feature,
                                       bool there) const {
    const Dense* const from =
        reinterpret_cast<const Dense*>(rows + std::uint64_t{static_cast<std::uint32_t>(row)} * stride) +
        feature;
    const int left = there ? static_cast<int>(min(dense_.n - feature, std::int64_t{kHalfFeatures})) : 0;
#pragma unroll
    for (int s = 0; s < S::kHalfSteps; ++s) {
      chunk[s] = {};
      load_chunk<S::kVector>(chunk[s], from + s * S::kStep, left - s * S::kStep);
    }
  }

  template <Results kResults>
  __device__ __forceinline__ std::int64_t write_pair(const float (&sum)[S::kHalves][4], const Head& head,
                                                     std::int64_t at) {
    if constexpr (Math::kDoubtsNonfinite && kResults == Results::fast)
#pragma unroll
      for (int h = 0; h < S::kHalves; ++h)
#pragma unroll
        for (int i = 0; i < 4; ++i) doubt_ = fmaf(sum[h][i], 0.0F, doubt_);
    at = write<kResults, 0>(sum, head, at);
    return head.tiles > 1 ? write<kResults, 1>(sum, head, at) : at;
  }

  /// Writes the results of the first or second tile. Returns the position of the next tile's results.
  template <Results kResults, int kWhich>
  __device__ __forceinline__ std::int64_t write(const float (&sum)[S::kHalves][4], const Head& head,
                                                std::int64_t at) {
    const ResultPlaces<S::kHalves> places = Source::places(head.mask[kWhich], bit_, group_);
#pragma unroll
    for (int h = 0; h < S::kHalves; ++h)
#pragma unroll
      for (int r = 0; r < 2; ++r)
        if (places.half[h].present[r])
          write_one<kResults>(at + places.half[h].index[r], sum[h][2 * kWhich + r], 8 * h + 4 * r,
                              head.column[kWhich]);
    return at + places.count;
  }

  /// Writes the result of row `row` + t of the window, unless a fast run has written it.
  template <Results kResults>
  __device__ __forceinline__ void write_one(std::int64_t at, float sum, int row, std::int32_t column) const {
    constexpr float kLargest = 0x1.fffffep+127F;
    constexpr bool kAddsToOld = !Math::kDoubtsNonfinite || kResults == Results::checked;
    if constexpr (kResults == Results::checked) {
      const bool is_finite = fabsf(sum) <= kLargest;
      if (is_finite && part_.results.beta == 0) return;
      if (!is_finite) sum = ieee_dot(row, column);
    }
    write_result<typename S::Result, kAddsToOld>(part_.results, at, sum);
  }

  __device__ __forceinline__ float ieee_dot(int row, std::int32_t column) const {
    const auto x = static_cast<std::uint64_t>(dense_.row(item_.row + row + first_ / Math::kElements));
    const auto y = static_cast<std::uint64_t>(column);
    const auto* const of_x = reinterpret_cast<const Dense*>(dense_.x + x * dense_.x_stride);
    const auto* const of_y = reinterpret_cast<const Dense*>(dense_.y + y * dense_.y_stride);
    float sum = 0;
#pragma unroll 1
    for (std::int64_t k = 0; k < dense_.n; ++k) sum = fmaf(of_x[k], of_y[k], sum);
    return sum;
  }

  const TilePart part_;
  const SddmmDense dense_;
  const int group_, first_;
  const std::uint32_t bit_;
  SddmmItem item_{};
  std::int32_t row_[S::kHalves];  ///< row of X; -1: past the last row
  float doubt_ = 0;               ///< NaN once a sum of a fast run was not finite
};

}  // namespace sptile::runtime::cuda
