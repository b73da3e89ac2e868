// Products of dense tiles of 16-bit numbers by a warpgroup, which owns all rows of the window and a slice of
// the columns of B. Products are the tiles times rows of B, both from shared memory: no warp loads an
// operand. Other warps write the tiles (dense_writer.cuh).
#pragma once

#include "runtime/cuda/collective/copy.cuh"
#include "runtime/cuda/collective/mma.cuh"
#include "runtime/cuda/collective/split.cuh"
#include "runtime/cuda/families/tall/result.cuh"

namespace sptile::runtime::cuda {

/// Compile-time parameters: blocks of 64 rows in a window, segments of 64 columns in a slice. Values are of
/// the type of B; a matrix without values is a pattern.
template <class MathT, int kRowBlocksT, int kSliceSegments>
struct TallUprightKernel {
  using Math = MathT;
  using Dense = typename Math::Dense;
  using Result = typename Math::Result;
  using Acc = typename Math::Acc;
  static constexpr int kRowBlocks = kRowBlocksT;
  static constexpr int kSubWindows = 8 * kRowBlocks;
  static constexpr int kSegments = 1;  ///< warps do not divide the slice
  static constexpr int kVariantSegments = kSliceSegments;
  static constexpr int kTiles = 8 * kSliceSegments;  ///< tiles of 8 columns of the result
  /// Tiles of an instruction. 32 would need more registers than a thread has before it takes others.
  static constexpr int kProductTiles = kTiles < 16 ? kTiles : 16;
  static constexpr int kWarps = kWarpgroup, kBlocks = 2;
  static constexpr int kStored = 4;
  static constexpr bool kDense = true, kSwizzled = true;
  using Value = Dense;
  static constexpr int kValueBytes = sizeof(Dense);
  static constexpr int kConsumerRegisters = kTallPolicy.consumer_registers,
                       kHelperRegisters = kTallPolicy.helper_registers;
  static constexpr std::uint32_t kTileBytes = 128, kGroupBytes = kSubWindows * kTileBytes;
  static_assert(sizeof(Dense) == 2);
};

/// Sums of a warp: 16 rows of each block of 64, all columns of the slice. sums[b][i][0..3] as acc in mma_tf32
/// for columns 8i to 8i + 7.
template <class K>
class TallUprightResult {
  using Result = typename K::Result;

 public:
  using Window = float[K::kRowBlocks][K::kTiles][4];

  __device__ __forceinline__ TallUprightResult(const TallTask& task, const TallPart& part)
      : task_(task), part_(part) {
    clear();
  }

  /// Stores the sums at the end of a window or of a segment of it, whose slot is `slot`; -1: an entire
  /// window.
  __device__ __forceinline__ void end_window(const TallPlace& place, std::int32_t slot) {
    if (slot < 0) {
#pragma unroll
      for (int b = 0; b < K::kRowBlocks; ++b) {
        const Rows rows = rows_of(place, b);
#pragma unroll
        for (int i = 0; i < K::kTiles; i += 2) store(rows, i, sums[b][i], sums[b][i + 1]);
      }
    } else {
      const TallPiece piece = task_.pieces[slot];
      store_partial(slot);
      if (is_last(piece)) store_pieces(place, piece);
    }
    clear();
  }

  Window sums;

 private:
  static constexpr int kWords = K::kRowBlocks * K::kTiles;  ///< vectors of four sums per lane
  using Four = Vec<float, 4>;

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int w = 0; w < kWords; ++w)
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[w / K::kTiles][w % K::kTiles][i] = 0;
  }

  /// The lane's two rows of a block of 64, at its first columns; null: not in the window.
  struct Rows {
    Result* row[2];
  };
  [[nodiscard]] __device__ __forceinline__ std::int64_t feature() const {
    return std::int64_t{part_.slice} * (8 * K::kTiles) + tall_upright_column(part_.lane);
  }
  [[nodiscard]] __device__ __forceinline__ Rows rows_of(const TallPlace& place, int block) const {
    Rows rows{};
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = tall_upright_row(part_.warp, part_.lane, block, r);
      if (row >= place.rows) continue;
      const std::int32_t from = place.row + row;
      const std::int64_t to = task_.row_order != nullptr ? __ldg(task_.row_order + from) : from;
      rows.row[r] = static_cast<Result*>(task_.c) + to * task_.ldc + feature();
    }
    return rows;
  }

  /// Stores the sums of two adjacent tiles of columns, i and i + 1. Lanes exchange pairs first, so that even
  /// ones have four columns of tile i, odd ones of tile i + 1.
  __device__ __forceinline__ void store(const Rows& rows, int i, const float (&first)[4],
                                        const float (&second)[4]) const {
    const bool odd = part_.lane % 2 != 0;
    const auto left = static_cast<int>(min(task_.n - feature() - 8 * i, std::int64_t{16}));
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float x = __shfl_xor_sync(kFullMask, odd ? first[2 * r] : second[2 * r], 1);
      const float y = __shfl_xor_sync(kFullMask, odd ? first[2 * r + 1] : second[2 * r + 1], 1);
      const float sum[4] = {odd ? x : first[2 * r], odd ? y : first[2 * r + 1], odd ? second[2 * r] : x,
                            odd ? second[2 * r + 1] : y};
      if (rows.row[r] == nullptr) continue;
      if (task_.whole_pieces) {
        store_piece<true>(rows.row[r] + 8 * i, sum, task_.scale, left);
        continue;
      }
      // A loop, which is a fifth of the code.
#pragma unroll 1
      for (int e = 0; e < K::kStored; ++e) {
        const float one[1] = {e == 0 ? sum[0] : e == 1 ? sum[1] : e == 2 ? sum[2] : sum[3]};
        store_piece<false>(rows.row[r] + 8 * i + e, one, task_.scale, left - e);
      }
    }
  }

  /// Returns the address of the lane's first sums in a slot; the next ones are kStride further.
  static constexpr int kStride = 4 * kWarpgroup * kWarpSize;
  [[nodiscard]] __device__ __forceinline__ float* partial(std::int64_t slot) const {
    return static_cast<float*>(task_.partials) + (slot * task_.slices + part_.slice) * (kWords * kStride) +
           4 * (kWarpSize * part_.warp + part_.lane);
  }

  __device__ __forceinline__ void store_partial(std::int32_t slot) const {
    float* const to = partial(slot);
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      Four four;
#pragma unroll
      for (int i = 0; i < 4; ++i) four.e[i] = sums[w / K::kTiles][w % K::kTiles][i];
      store_vector<Cache::l2>(to + w * kStride, four);
    }
  }

  /// Counts the segments of the warp's rows of the window. Returns true for the last one to arrive, which
  /// varies between runs; the order of the additions does not.
  [[nodiscard]] __device__ __forceinline__ bool is_last(const TallPiece& piece) const {
    const std::int64_t counter =
        (std::int64_t{piece.first_slot} * task_.slices + part_.slice) * kWarpgroup + part_.warp;
    return warp_arrives_last(task_.arrived + counter, piece.count, part_.lane);
  }

  /// Adds the sums of segments and stores them. The registers of the sums hold loads in flight.
  __device__ __forceinline__ void store_pieces(const TallPlace& place, const TallPiece& piece) const {
    constexpr int kTogether = 8;
    static_assert(K::kTiles % kTogether == 0);
    const float* from = partial(piece.first_slot);
    const std::int64_t stride = std::int64_t{task_.slices} * (kWords * kStride);
#pragma unroll 1
    for (int first = 0; first < kWords; first += kTogether, from += kTogether * kStride) {
      Four sum[kTogether] = {};
#pragma unroll 4
      for (std::int32_t p = 0; p < piece.count; ++p) {
        Four four[kTogether];
#pragma unroll
        for (int w = 0; w < kTogether; ++w)
          four[w] = load_vector<Four, Cache::l2>(from + p * stride + w * kStride);
#pragma unroll
        for (int w = 0; w < kTogether; ++w)
#pragma unroll
          for (int i = 0; i < 4; ++i) sum[w].e[i] += four[w].e[i];
      }
      const Rows rows = rows_of(place, first / K::kTiles);
#pragma unroll
      for (int w = 0; w < kTogether; w += 2) store(rows, first % K::kTiles + w, sum[w].e, sum[w + 1].e);
    }
  }

  const TallTask& task_;
  TallPart part_;
};

template <class K>
class TallUprightTiles {
 public:
  __device__ __forceinline__ TallUprightTiles(const TallTask& task, const TallShared& shared,
                                              const TallPart& part)
      : task_(task), shared_(shared), lane_(part.lane) {}

  /// Adds the products of the chunk of a stage, two groups at a time; producers copy a last group without a
  /// partner twice. Calls release() once the chunk has been read.
  template <class Release>
  __device__ __forceinline__ void multiply(typename TallUprightResult<K>::Window& sums, std::uint32_t stage,
                                           const uint4& head, const Release& release) {
    const auto groups = static_cast<int>(head.w & 0xffu);
    shared_.dense().wait_full(tiles_);
    fence_async();  // producers copy rows of B with ordinary accesses
    const std::uint32_t tiles = shared_.tiles(task_, tiles_.stage);
    multiply_pairs(sums, stage, tiles, groups > 2);
    if (lane_ == 0) barrier_arrive(shared_.dense().empty(tiles_.stage));
    tiles_.advance(kTallDenseChunks);
    release();
  }

 private:
  /// Multiplies two pairs of groups. If the chunk has only one, the other has the same rows and tiles of
  /// zeros: with a branch between the products, the compiler would wait for each of them.
  static __device__ __forceinline__ void multiply_pairs(typename TallUprightResult<K>::Window& sums,
                                                        std::uint32_t stage, std::uint32_t tiles, bool both) {
    constexpr std::uint32_t kRows = K::kVariantSegments * kSwizzledBytes;  // bytes of a group
    static_assert(kTallChunkGroups == 4);
    const std::uint32_t second = both ? 2 * kRows : 0;
    warpgroup_arrive();
#pragma unroll
    for (std::uint32_t g = 0; g < kTallChunkGroups; g += 2)
#pragma unroll
      for (std::uint32_t b = 0; b < K::kRowBlocks; ++b)
#pragma unroll
        for (std::uint32_t i = 0; i < K::kTiles; i += K::kProductTiles)
          warpgroup_half<K::kProductTiles, typename K::Dense>(
              [&](std::uint32_t j, int r) -> float& { return sums[b][i + j][r]; },
              warpgroup_operand(tiles + g * K::kGroupBytes + b * (8 * K::kTileBytes), K::kGroupBytes,
                                K::kTileBytes),
              warpgroup_rows(stage + (g > 0 ? second : 0) + i / 8 * kSwizzledBytes, kRows, kSwizzledBytes));
    warpgroup_commit();
    warpgroup_wait();
  }

  const TallTask& task_;
  const TallShared& shared_;
  int lane_;
  StageCursor tiles_;
};

}  // namespace sptile::runtime::cuda
