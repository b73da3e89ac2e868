// Attention of windows of 16 rows on tensor cores: a warp processes the tiles of one window for one head.
//
//   S = X Y^T      of 16 rows and the 8 columns of a tile, mma.m16n8k8 over the features
//   P = exp(S - m) for entries of the tile, else 0; m is the running maximum (online softmax)
//   O = O f + P V  mma.m16n8k8 over the columns of the tile; f = exp(old m - new m)
//
// Rows of Y and V are loaded once for all rows of the window with the column, and the three steps communicate
// through registers only. Fragment elements are assigned to lanes so that each lane loads 16 bytes and P
// needs no exchange between lanes: lane 4 g + t holds rows g and g + 8 and columns t and t + 4 of S, the
// layout of the first operand of the second product. The words of bmat have one bit for each of these four.
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/core/attention_operands.hpp"
#include "runtime/cuda/collective/epilogue.cuh"
#include "runtime/cuda/collective/lanes.hpp"
#include "runtime/cuda/collective/split.cuh"
#include "runtime/cuda/collective/warp.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/families/attention/tile_math.cuh"
#include "runtime/cuda/families/attention/tile_schedule.hpp"

namespace sptile::runtime::cuda {

/// An operand with a row for each row or column of A, and heads.
template <class T>
struct HeadRows {
  T* data;
  std::int64_t ld, batch;

  [[nodiscard]] __device__ __forceinline__ HeadRows of_head(int head) const {
    return {data + head * batch, ld, batch};
  }
  [[nodiscard]] __device__ __forceinline__ T* row(std::int64_t i) const { return data + i * ld; }
};

/// Kernel parameter: device pointers and numbers.
template <class Dense, class Result>
struct TileAttentionTask {
  using Input = const Dense;
  using Output = Result;
  const std::int32_t* columns;    ///< 8 per tile
  const uint4* words;             ///< words of bmat, 4 per tile
  const std::int32_t* row_order;  ///< new_to_old; null: original order
  const AttentionItem* items;
  const SplitAttention* splits;
  std::int32_t item_count;
  std::int32_t rows;
  std::int32_t n, m;
  HeadRows<const Dense> x, y, v;
  HeadRows<const Dense> bias;  ///< a list; null: none
  HeadRows<float> statistics;  ///< null: not requested
  HeadRows<Result> out;
  Score score;
  float scale;  ///< scale of scores, times log2(e)
  float slope;
  unsigned* arrived;  ///< [split][head]
  float* partials;    ///< [slot][head][number][lane]
};

template <class MathT, int kPiecesT, bool kVectorT, bool kAdditiveT>
struct TileAttentionShape {
  using Math = MathT;
  using Task = TileAttentionTask<typename Math::Dense, typename Math::Result>;
  static constexpr int kPieces = kPiecesT;  ///< chunks of V that the 8 groups of lanes move together
  static constexpr int kFeatures = 8 * Math::kElements * kPieces;  ///< maximum features
  static constexpr bool kVector = kVectorT;                        ///< rows can be moved in chunks
  static constexpr bool kAdditive = kAdditiveT;                    ///< Score::additive: X and Y are numbers
};

/// Reduces over the four lanes that share rows.
template <class Combine = Plus>
__device__ __forceinline__ float reduce_quad(float x, Combine combine = {}) {
  return reduce_lanes<4, Butterfly::kNearFirst>(x, combine);
}

/// Access to partial results: in shared memory for warps of the block, otherwise through L2.
struct InBlock {
  static __device__ __forceinline__ float get(const float* from) { return *from; }
  static __device__ __forceinline__ void put(float* to, float x) { *to = x; }
};
struct InMemory {
  static __device__ __forceinline__ float get(const float* from) { return __ldcg(from); }
  static __device__ __forceinline__ void put(float* to, float x) { __stcg(to, x); }
};

template <class S>
class TileAttention {
  using Math = typename S::Math;
  using Task = typename S::Task;
  using Dense = typename Math::Dense;
  using Chunk = typename Math::Chunk;
  static constexpr int kElements = Math::kElements;
  static constexpr int kTogether = TileAttentionPolicy{}.tiles_per_update;
  /// Chunks of rows of X and Y, which 4 lanes share.
  static constexpr int kScoreChunks = S::kAdditive ? 0 : 2 * S::kPieces;

 public:
  __device__ __forceinline__ TileAttention(const Task& task, const AttentionItem& item, int head, int lane)
      : task_(task),
        item_(item),
        head_(head),
        lane_(lane),
        group_(lane_group(lane)),
        member_(lane_member(lane)),
        y_(task.y.of_head(head)),
        v_(task.v.of_head(head)),
        value_(item.value_begin) {}

  __device__ __forceinline__ void run() {
    load_rows();
    Tiles ahead = read_tiles(item_.tile_begin);
    Scored scored = read_scored(ahead);
    for (std::int32_t tile = item_.tile_begin; tile < item_.tile_end; tile += kTogether) {
      const Tiles tiles = ahead;
      const Weighted weighted = read_weighted(tiles);
      float s[kTogether][4];
      score(s, tiles, scored);
      ahead = read_tiles(tile + kTogether);
      scored = read_scored(ahead);
      weigh(s);
      add_rows(s, weighted);
    }
    sum_[0] = reduce_quad(sum_[0]);
    sum_[1] = reduce_quad(sum_[1]);
    if (item_.slot < 0)
      store();
    else
      merge();
  }

 private:
  /// Column ids and words of tiles that are processed together.
  struct Tiles {
    std::int32_t id;  ///< one each for lanes 0 to 15
    uint4 word[kTogether];
  };
  /// Rows of Y: the lane's features of one column of each tile. For Score::additive, ScoredNumbers has the
  /// numbers of two columns.
  struct ScoredRows {
    Chunk row[kTogether][kScoreChunks > 0 ? kScoreChunks : 1];
  };
  struct ScoredNumbers {
    float number[kTogether][2];
  };
  using Scored = std::conditional_t<S::kAdditive, ScoredNumbers, ScoredRows>;
  /// Rows of V: the lane's features of two columns of each tile.
  struct Weighted {
    Chunk row[kTogether][2][S::kPieces];
  };

  /// Returns the operand row of row g + 8 half of the window.
  __device__ __forceinline__ std::int32_t row_of(int half) const {
    const std::int32_t row = 16 * item_.window + group_ + 8 * half;
    if (row >= task_.rows) return -1;
    return caller_row(task_.row_order, row);
  }

  /// Loads the rows of X, and their inverse lengths or their numbers.
  __device__ __forceinline__ void load_rows() {
    float square[2] = {0, 0};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      row_[half] = row_of(half);
      const Dense* const x = task_.x.of_head(head_).row(max(row_[half], 0));
      const int count = row_[half] < 0 ? 0 : task_.n;
      factor_[half] = S::kAdditive && count > 0 ? widen(*x) : 1;
#pragma unroll
      for (int c = 0; c < kScoreChunks; ++c) {
        const Chunk chunk = features(x, (4 * c + member_) * kElements, count);
        square[half] += squares(chunk);
        Math::put(x_[c], half, chunk);
      }
    }
    if (task_.score != Score::cosine) return;
#pragma unroll
    for (int half = 0; half < 2; ++half) factor_[half] = inverse_length(square[half]);
  }

  /// Returns the features of a row from `at`; missing ones are 0.
  __device__ __forceinline__ static Chunk features(const Dense* row, int at, int count) {
    Chunk chunk = {};
    load_chunk<S::kVector>(chunk, row + at, count - at);
    return chunk;
  }

  __device__ __forceinline__ static float squares(const Chunk& chunk) {
    float sum = 0;
#pragma unroll
    for (int e = 0; e < kElements; ++e) sum += chunk_at<Math>(chunk, e) * chunk_at<Math>(chunk, e);
    return sum;
  }

  /// Returns 1 / length of a row whose squares the four lanes have added.
  __device__ __forceinline__ static float inverse_length(float square) {
    return 1 / fmaxf(sqrtf(reduce_quad(square)), 1e-12F);
  }

  __device__ __forceinline__ Tiles read_tiles(std::int32_t tile) const {
    Tiles tiles{0, {}};
    const std::int32_t left = item_.tile_end - tile;
    if (lane_ < 8 * min(left, kTogether)) tiles.id = __ldg(task_.columns + std::int64_t{8} * tile + lane_);
#pragma unroll
    for (int t = 0; t < kTogether; ++t)
      if (t < left) tiles.word[t] = __ldg(task_.words + tile + t);
    return tiles;
  }

  /// Returns column `place` of tile t.
  __device__ __forceinline__ static std::int32_t column(const Tiles& tiles, int t, int place) {
    return __shfl_sync(kFullMask, tiles.id, 8 * t + place);
  }
  __device__ __forceinline__ static bool is_there(const Tiles& tiles, int t) {
    return (tiles.word[t].x | tiles.word[t].y | tiles.word[t].z | tiles.word[t].w) != 0;
  }

  __device__ __forceinline__ Scored read_scored(const Tiles& tiles) const {
    Scored scored{};
#pragma unroll
    for (int t = 0; t < kTogether; ++t) {
      if constexpr (S::kAdditive) {
#pragma unroll
        for (int k = 0; k < 2; ++k) scored.number[t][k] = widen(*y_.row(column(tiles, t, member_ + 4 * k)));
      } else {
        const Dense* const y = y_.row(column(tiles, t, group_ / 2 + group_ % 2 * 4));
        const int count = is_there(tiles, t) ? task_.n : 0;  // masked instead of skipped
#pragma unroll
        for (int c = 0; c < kScoreChunks; ++c)
          scored.row[t][c] = features(y, (4 * c + member_) * kElements, count);
      }
    }
    return scored;
  }

  __device__ __forceinline__ Weighted read_weighted(const Tiles& tiles) const {
    Weighted weighted{};
#pragma unroll
    for (int t = 0; t < kTogether; ++t)
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const Dense* const v = v_.row(column(tiles, t, member_ + 4 * k));
        const int count = is_there(tiles, t) ? task_.m : 0;
#pragma unroll
        for (int p = 0; p < S::kPieces; ++p)
          weighted.row[t][k][p] = features(v, (8 * p + group_) * kElements, count);
      }
    return weighted;
  }

  /// Computes s[t]: rows g, g, g + 8, g + 8, columns t, t + 4, t, t + 4; scaled for exp2, -inf without an
  /// entry.
  __device__ __forceinline__ void score(float (&s)[kTogether][4], const Tiles& tiles, const Scored& scored) {
#pragma unroll
    for (int t = 0; t < kTogether; ++t) {
      if constexpr (S::kAdditive)
        add_numbers(s[t], scored.number[t]);
      else
        multiply_rows(s[t], scored.row[t]);
      mask(s[t], tiles.word[t]);
    }
  }

  __device__ __forceinline__ void add_numbers(float (&s)[4], const float (&y)[2]) const {
    const float sums[4] = {factor_[0] + y[0], factor_[0] + y[1], factor_[1] + y[0], factor_[1] + y[1]};
#pragma unroll
    for (int i = 0; i < 4; ++i) s[i] = task_.scale * (sums[i] < 0 ? task_.slope * sums[i] : sums[i]);
  }

  __device__ __forceinline__ void multiply_rows(float (&s)[4], const Chunk* y) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) s[i] = 0;
    float square = 0;
#pragma unroll
    for (int c = 0; c < kScoreChunks; ++c) {
      Math::score(s, x_[c], y[c]);
      square += squares(y[c]);
    }
    float low = task_.scale, high = task_.scale;
    if (task_.score == Score::cosine) {
      const float length = inverse_length(square);  // 1 / |row| of the lane's row
      low *= __shfl_sync(kFullMask, length, 8 * member_);
      high *= __shfl_sync(kFullMask, length, 8 * member_ + 4);
    }
    s[0] *= low * factor_[0];
    s[1] *= high * factor_[0];
    s[2] *= low * factor_[1];
    s[3] *= high * factor_[1];
  }

  /// Words are left upper, left lower, right upper, right lower; values are stored word by word.
  __device__ __forceinline__ void mask(float (&s)[4], const uint4& words) {
    const std::uint32_t word[4] = {words.x, words.y, words.z, words.w};
    constexpr int kPlace[4] = {0, 2, 1, 3};
    const std::uint32_t bit = 1u << lane_;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      float& one = s[kPlace[w]];
      if (!word_present(word[w], bit))
        one = -INFINITY;
      else if (task_.bias.data != nullptr)
        one += kLog2E * widen(task_.bias.of_head(head_).data[value_ + word_index(word[w], bit)]);
      value_ += count_bits(word[w]);
    }
  }

  /// Converts scores to weights relative to the running maximum.
  __device__ __forceinline__ void weigh(float (&s)[kTogether][4]) {
    float factor[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float most = most_[half];
#pragma unroll
      for (int t = 0; t < kTogether; ++t) most = fmaxf(most, fmaxf(s[t][2 * half], s[t][2 * half + 1]));
      most = reduce_quad(most, MaximumNumber());
      const float shift = most == -INFINITY ? 0 : most;
      factor[half] = most_[half] == -INFINITY ? 1 : exp2f(most_[half] - most);
      most_[half] = most;
      sum_[half] *= factor[half];
#pragma unroll
      for (int t = 0; t < kTogether; ++t)
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          float& one = s[t][2 * half + k];
          one = exp2f(one - shift);
          sum_[half] += one;
        }
    }
    if (__any_sync(kFullMask, factor[0] != 1 || factor[1] != 1)) scale_rows(factor);
  }

  __device__ __forceinline__ void scale_rows(const float (&factor)[2]) {
#pragma unroll
    for (int i = 0; i < kSums; ++i) sum_at(i) *= factor[i % 4 / 2];
  }

  __device__ __forceinline__ void add_rows(const float (&s)[kTogether][4], const Weighted& weighted) {
#pragma unroll
    for (int t = 0; t < kTogether; ++t) {
      const auto weights = Math::weights(s[t]);
#pragma unroll
      for (int p = 0; p < S::kPieces; ++p)
        Math::add(rows_[p], weights, weighted.row[t][0][p], weighted.row[t][1][p]);
    }
  }

  /// Writes both rows; a row without weights is 0.
  __device__ __forceinline__ void store() const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (row_[half] < 0) continue;
      const Scale<float> scale = {sum_[half] == 0 ? 0 : 1 / sum_[half], 0};
      auto* const out = task_.out.of_head(head_).row(row_[half]);
#pragma unroll
      for (int p = 0; p < S::kPieces; ++p)
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          const int at = (8 * p + 2 * member_ + k) * kElements;
          float chunk[kElements];
#pragma unroll
          for (int e = 0; e < kElements; ++e) chunk[e] = rows_[p][e][2 * half + k];
          store_piece<S::kVector>(out + at, chunk, scale, task_.m - at);
        }
      if (member_ == 0) store_statistics(row_[half], most_[half], sum_[half]);
    }
  }

  __device__ __forceinline__ void store_statistics(std::int32_t row, float most, float sum) const {
    if (task_.statistics.data == nullptr) return;
    float* const to = task_.statistics.of_head(head_).row(row);
    to[kMaximum] = most == -INFINITY ? 0 : most * kLn2;
    to[kInverseSum] = sum == 0 ? 0 : 1 / sum;
  }

  /// Numbers of a piece: sums, maxima, weighted rows.
  static constexpr int kSums = 4 * kElements * S::kPieces, kNumbers = 4 + kSums;
  static_assert(kNumbers == attention_numbers(S::kFeatures));
  __device__ __forceinline__ float& sum_at(int i) {
    return rows_[i / (4 * kElements)][i / 4 % kElements][i % 4];
  }
  __device__ __forceinline__ float* partial(std::int32_t slot) const {
    const std::int64_t heads = gridDim.y;
    return task_.partials + (slot * heads + head_) * (kNumbers * kWarpSize) + lane_;
  }

  /// Stores the warp's results, each number of all lanes contiguously.
  template <class Place>
  __device__ __forceinline__ void leave(float* to) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      Place::put(to + (2 * half) * kWarpSize, most_[half]);
      Place::put(to + (2 * half + 1) * kWarpSize, sum_[half]);
    }
#pragma unroll
    for (int i = 0; i < kSums; ++i) Place::put(to + (4 + i) * kWarpSize, sum_at(i));
  }

  /// Merges the pieces of the team in its first warp, and the teams of the window in the last one to arrive.
  __device__ __forceinline__ void merge() {
    __shared__ float pieces[kAttentionTeam][kNumbers][kWarpSize];
    const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
    leave<InBlock>(&pieces[warp][0][lane_]);
    __syncthreads();
    if (warp != 0) return;
    merge_all<InBlock>(&pieces[0][0][lane_], kAttentionTeam, kNumbers * kWarpSize);
    const SplitAttention split = task_.splits[item_.split];
    if (split.teams > 1 && !is_last(split)) return;
    store();
  }

  /// Returns false while other teams of the window are unfinished; otherwise merges them in order.
  __device__ __forceinline__ bool is_last(const SplitAttention& split) {
    leave<InMemory>(partial(item_.slot));
    unsigned* const arrived = task_.arrived + item_.split * static_cast<std::int64_t>(gridDim.y) + head_;
    if (!warp_arrives_last(arrived, split.teams, lane_)) return false;
    merge_all<InMemory>(partial(split.first_slot), split.teams,
                        std::int64_t{kNumbers * kWarpSize} * gridDim.y);
    return true;
  }

  /// Replaces the sums by those of `count` pieces, merged in order.
  template <class Place>
  __device__ __forceinline__ void merge_all(const float* from, std::int32_t count, std::int64_t stride) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      most_[half] = -INFINITY;
      sum_[half] = 0;
    }
#pragma unroll
    for (int i = 0; i < kSums; ++i) sum_at(i) = 0;
    for (std::int32_t k = 0; k < count; ++k, from += stride) merge_one<Place>(from);
  }
  template <class Place>
  __device__ __forceinline__ void merge_one(const float* from) {
    float old[2], added[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float most = Place::get(from + (2 * half) * kWarpSize),
                  sum = Place::get(from + (2 * half + 1) * kWarpSize);
      const float both = fmaxf(most, most_[half]), shift = both == -INFINITY ? 0 : both;
      old[half] = exp2f(most_[half] - shift);
      added[half] = exp2f(most - shift);
      sum_[half] = sum_[half] * old[half] + sum * added[half];
      most_[half] = both;
    }
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      float& one = sum_at(i);
      one = one * old[i % 4 / 2] + Place::get(from + (4 + i) * kWarpSize) * added[i % 4 / 2];
    }
  }

  const Task& task_;
  const AttentionItem item_;
  int head_, lane_, group_, member_;
  HeadRows<const Dense> y_, v_;
  std::int64_t value_;                      ///< index of the next entry
  std::int32_t row_[2];                     ///< rows of the operands; -1: none
  float factor_[2];                         ///< 1 / |x|, or x of Score::additive, or 1
  float most_[2] = {-INFINITY, -INFINITY};  ///< running maximum, for exp2
  float sum_[2] = {0, 0};                   ///< sums of weights; of the lane's columns only until the end
  typename Math::Rows x_[kScoreChunks > 0 ? kScoreChunks : 1];
  float rows_[S::kPieces][kElements][4] = {};  ///< weighted rows of V, in the layout of the second product
};

inline constexpr int kTileAttentionThreads = kWarpSize * kAttentionTeam;

/// Adjacent warps process adjacent windows. Heads are the slow dimension of the grid, so that rows of one
/// head stay in the cache.
template <class S>
__global__ void __launch_bounds__(kTileAttentionThreads, S::kPieces == 1 ? TileAttentionPolicy{}.narrow_blocks
                                                                         : TileAttentionPolicy{}.wide_blocks)
    tile_attention(const __grid_constant__ typename S::Task task) {
  admit_next_kernel();
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / kWarpSize, 0);
  const int item = static_cast<int>(blockIdx.x) * (kTileAttentionThreads / kWarpSize) + warp;
  if (item >= task.item_count) return;
  const AttentionItem mine = task.items[item];
  await_previous_kernel();
  TileAttention<S>(task, mine, static_cast<int>(blockIdx.y), static_cast<int>(threadIdx.x) % kWarpSize).run();
}

}  // namespace sptile::runtime::cuda
