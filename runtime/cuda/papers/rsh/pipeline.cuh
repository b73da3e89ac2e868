// The tensor core kernel of RSH-SpMM (Algorithm 2, figures 5 to 7): one block per stored window or piece.
//
// The block's warps multiply the same tiles, 16 columns of B each. Values and column ids of a tile are
// double buffered in shared memory and copied asynchronously, once per block; the 8x16 tile of B is double
// buffered in registers. While tile t is decoded and multiplied, the values and the rows of B of tile t + 1
// are in flight, and the column ids of tile t + 2, because the addresses of the rows of B of a tile depend on
// its ids. (The pseudocode loads ids and rows of B of the same tile together.)
//
// Operands are swapped: the tile of B is the first operand of m16n8k8. A lane loads two adjacent features of
// the rows of two tile columns, one word each, and transposes them in registers (MathHalf::fragment).
#pragma once

#include <cstdint>

#include "runtime/cuda/collective/block.cuh"
#include "runtime/cuda/collective/copy.cuh"
#include "runtime/cuda/collective/split.cuh"
#include "runtime/cuda/collective/tile_masks.cuh"
#include "runtime/cuda/device/ptx.cuh"
#include "runtime/cuda/families/tile/kernels.cuh"

namespace sptile::runtime::cuda {

inline constexpr int kRshFeatures = 16;  ///< per warp
inline constexpr int kRshMaxWarps = 16;  ///< per block

/// A kernel for values of type V and operands of type T. kVectorT: operands and values are aligned.
template <class V, class T, bool kVectorT>
struct RshKernel {
  using Value = V;
  using Math = MathHalf<T, 2, float>;
  static constexpr bool kVector = kVectorT;
  static constexpr bool kPattern = std::is_same_v<V, Ones>;
};

/// Shared memory of a block: two buffers of column ids, then two of values.
struct RshShared {
  static constexpr std::uint32_t kIdBytes = 8 * sizeof(std::int32_t);
  /// 64 values of 16 bits that start anywhere in 16 bytes.
  static constexpr std::uint32_t kValueBytes = 64 * 2 + 16;
  static constexpr std::uint32_t kBytes = 2 * (kIdBytes + kValueBytes);

  std::uint32_t at;

  [[nodiscard]] __device__ __forceinline__ std::uint32_t ids(int buffer) const {
    return at + static_cast<std::uint32_t>(buffer) * kIdBytes;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t values(int buffer) const {
    return at + 2 * kIdBytes + static_cast<std::uint32_t>(buffer) * kValueBytes;
  }
};

/// Copies values and column ids of tiles to shared memory. One warp of the block copies.
template <class K>
class RshCopier {
 public:
  __device__ __forceinline__ RshCopier(const TileTask& task, RshShared shared, int lane)
      : task_(task), shared_(shared), lane_(lane) {}

  __device__ __forceinline__ void copy_ids(std::int32_t tile, int buffer) const {
    copy_if<16>(lane_ < kIdPieces, shared_.ids(buffer) + 16 * static_cast<std::uint32_t>(lane_),
                task_.arrays.columns + std::int64_t{tile} * 8 + 4 * lane_);
  }

  /// Copies `count` values from `first` on.
  __device__ __forceinline__ void copy_values(std::int64_t first, std::uint32_t count, int buffer) const {
    if constexpr (!K::kPattern) {
      const std::uint32_t to = shared_.values(buffer);
      const auto* const from = static_cast<const std::byte*>(task_.arrays.values);
      if constexpr (K::kVector) {
        // Whole pieces of 16 bytes, except at the end of the array.
        const std::int64_t begin = (2 * first) & -16, end = (2 * (first + count) + 15) & -16;
        const auto bytes = static_cast<int>(min(end, task_.arrays.value_bytes) - begin) - 16 * lane_;
        copy_up_to_16<2>(to + 16 * static_cast<std::uint32_t>(lane_), from + begin + 16 * lane_, bytes);
      } else {
        for (auto i = static_cast<std::uint32_t>(lane_); i < count; i += kWarpSize)
          copy_number<2>(to + 2 * (skipped(first) + i), from + 2 * (first + i));
      }
    }
  }

  /// Returns the position of value `first` of the matrix in its buffer, in values.
  static __device__ __forceinline__ std::uint32_t skipped(std::int64_t first) {
    return static_cast<std::uint32_t>(first) & 7u;
  }

 private:
  static constexpr int kIdPieces = RshShared::kIdBytes / 16;

  const TileTask& task_;
  RshShared shared_;
  int lane_;
};

/// A warp of a block.
template <class K>
class RshWarp {
  using V = typename K::Value;
  using Math = typename K::Math;
  using Dense = typename Math::Dense;
  using Chunk = typename Math::Chunk;
  using Piece = Vec<float, Math::kElements>;

 public:
  /// `slice`: the warp's 16 columns of B, which may be past the last one.
  __device__ __forceinline__ RshWarp(const TileTask& task, const TileItem& item, int slice,
                                     const TileThread& thread, RshShared shared)
      : task_(task),
        item_(item),
        slice_(slice),
        copies_(thread.warp == 0),
        lane_(thread.lane),
        shared_(shared),
        copier_(task, shared, thread.lane),
        prefix_(Mask8::prefix(thread.lane)) {
    feature_ = std::int64_t{slice} * kRshFeatures + lane_feature(lane_, 0, Math::kElements);
    left_ = static_cast<int>(min(max(task.n - feature_, std::int64_t{0}), std::int64_t{Math::kElements}));
    clear();
  }

  __device__ __forceinline__ void run() {
    prefetch();
    for (std::int32_t tile = item_.tile_begin; tile < item_.tile_end; tile += 2) {
      multiply<0>(tile);
      if (tile + 1 < item_.tile_end) multiply<1>(tile + 1);
    }
    if (slice_ < task_.slices) drain();
  }

  // For merge_tree.
  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < 4; ++i) sums_[0][i] = 0;
  }
  __device__ __forceinline__ void store_partial(std::int32_t slot) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) store_vector<Cache::l2>(partial(slot, r), piece(r));
  }
  __device__ __forceinline__ void add_partial(std::int32_t slot) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const auto other = load_vector<Piece, Cache::l2>(partial(slot, r));
#pragma unroll
      for (int e = 0; e < Math::kElements; ++e) Math::sum_at(sums_, e, r) += other.e[e];
    }
  }

 private:
  /// Lines 10 to 14: the first tile, and the ids of the second one.
  __device__ __forceinline__ void prefetch() {
    mask_ = mask(item_.tile_begin);
    next_mask_ = mask(item_.tile_begin + 1);
    value_ = item_.value_begin;
    if (copies_) {
      copier_.copy_values(value_, bits(mask_), 0);
      copier_.copy_ids(item_.tile_begin, 0);
      if (item_.tile_begin + 1 < item_.tile_end) copier_.copy_ids(item_.tile_begin + 1, 1);
    }
    await_copies();
    load_dense<0>();
    __syncthreads();  // all warps have read the ids that the first iteration overwrites
  }

  /// Lines 17 to 33: multiplies a tile that is in buffers kRead while the next one is loaded into the others.
  template <int kRead>
  __device__ __forceinline__ void multiply(std::int32_t tile) {
    constexpr int kStore = 1 - kRead;
    const uint2 mask = mask_;
    const std::int64_t value = value_;
    value_ += bits(mask);
    mask_ = next_mask_;
    if (tile + 1 < item_.tile_end) {
      next_mask_ = this->mask(tile + 2);
      if (copies_) {
        copier_.copy_values(value_, bits(mask_), kStore);
        if (tile + 2 < item_.tile_end) copier_.copy_ids(tile + 2, kRead);
      }
      load_dense<kStore>();
    }
    const auto entries = decode(mask, value, kRead);
    Math::multiply(sums_, Math::fragment(dense_[kRead][0], dense_[kRead][1]), entries);
    await_copies();
  }

  __device__ __forceinline__ void await_copies() const {
    copy_commit();
    copy_wait<0>();
    __syncthreads();
  }

  /// Loads the mask of a tile; zero past the end.
  __device__ __forceinline__ uint2 mask(std::int32_t tile) const {
    return tile < item_.tile_end ? __ldg(static_cast<const uint2*>(task_.arrays.masks) + tile) : uint2{0, 0};
  }
  static __device__ __forceinline__ std::uint32_t bits(const uint2& mask) {
    return count_bits(mask.x) + count_bits(mask.y);
  }

  /// Starts the loads of the lane's two rows of the tile of B whose ids are in buffer kBuffer.
  template <int kBuffer>
  __device__ __forceinline__ void load_dense() {
    const uint2 ids =
        shared_pair(shared_.ids(kBuffer) + 4 * static_cast<std::uint32_t>(Mask8::place(lane_member(lane_))));
    const std::uint32_t column[2] = {ids.x, ids.y};
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      dense_[kBuffer][k] = {};
      load_chunk<K::kVector>(dense_[kBuffer][k],
                             static_cast<const Dense*>(task_.b) + column[k] * task_.ldb + feature_, left_);
    }
  }

  /// Expands the lane's two elements of a tile (section 3.3.2): bit counts give their positions.
  __device__ __forceinline__ auto decode(const uint2& mask, std::int64_t value, int buffer) const {
    const LanePair pair = Mask8::pairs(mask, prefix_).half[0];
    if constexpr (K::kPattern) {
      return Math::template ones<V>(pair.present[0], pair.present[1]);
    } else {
      const std::uint32_t at = shared_.values(buffer) + 2 * RshCopier<K>::skipped(value);
      return Math::entries(shared_element_if<V>(at + 2 * pair.index[0], pair.present[0]),
                           shared_element_if<V>(at + 2 * pair.index[1], pair.present[1]));
    }
  }

  /// Lines 35 to 37. The pieces of a split window are added in order.
  __device__ __forceinline__ void drain() {
    if (item_.slot >= 0) {
      const SplitWindow split = task_.splits[item_.split];
      unsigned* const arrived = task_.arrived + std::int64_t{split.first_counter} * task_.slices + slice_;
      const SumTree tree = {split.first_slot, split.count, item_.slot - split.first_slot, arrived,
                            task_.slices};
      if (split.count > 1 && !merge_tree<kSumGroup, 8>(*this, tree, lane_)) return;
    }
    const std::int32_t first = __ldg(task_.window_row + item_.window_begin);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const std::int32_t row = first + lane_result_row(lane_, r);
      if (row >= task_.rows) continue;
      float* const to =
          static_cast<float*>(task_.c) + caller_row(task_.row_order, row) * task_.ldc + feature_;
      store_piece<K::kVector>(to, piece(r).e, task_.scale, left_);
    }
  }

  __device__ __forceinline__ Piece piece(int r) const {
    Piece piece;
#pragma unroll
    for (int e = 0; e < Math::kElements; ++e) piece.e[e] = Math::sum_at(sums_, e, r);
    return piece;
  }
  __device__ __forceinline__ float* partial(std::int32_t slot, int r) const {
    return static_cast<float*>(task_.partials) +
           (std::int64_t{slot} * 8 + lane_result_row(lane_, r)) * task_.padded_n + feature_;
  }

  const TileTask& task_;
  const TileItem& item_;
  int slice_;
  bool copies_;
  int lane_;
  RshShared shared_;
  RshCopier<K> copier_;
  Mask8::Prefix prefix_;
  std::int64_t feature_;    ///< the lane's first feature
  int left_;                ///< features from there to n, at most two
  uint2 mask_, next_mask_;  ///< masks of the next tile to multiply and of the following one
  std::int64_t value_;      ///< position of the next tile's values
  Chunk dense_[2][2];       ///< buffers of two rows of B
  typename Math::Sums sums_;
};

/// The first blocks have tile items, pass by pass, the others short rows (section 3.1), one item per warp.
template <class K>
__global__ void __launch_bounds__(kRshMaxWarps* kWarpSize)
    rsh_product(const __grid_constant__ TileTask task, const __grid_constant__ ShortTask part) {
  follow_previous_kernel();
  const TileThread thread = tile_thread();
  const int block = static_cast<int>(blockIdx.x);
  const int tile_blocks = task.blocks_per_pass * task.passes;
  if (block < tile_blocks) {
    const TileItem item = task.items[block % task.blocks_per_pass];
    const int slice = block / task.blocks_per_pass * thread.warps + thread.warp;
    RshWarp<K>(task, item, slice, thread, {dynamic_shared()}).run();
    return;
  }
  const std::int64_t item_number = std::int64_t{block - tile_blocks} * thread.warps + thread.warp;
  if (item_number >= part.item_count) return;
  const ShortRows item = part.items[item_number];
  ShortRowsWarp<typename K::Value, typename K::Math, K::kVector>(task, part, item, thread.lane).run();
}

}  // namespace sptile::runtime::cuda
