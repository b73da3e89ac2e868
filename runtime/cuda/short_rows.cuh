// Rows of few entries on the CUDA cores, for the residual part of rs_tile; and rows of none.
//
// A warp takes some rows of one length. Each row is the work of as many lanes as its features need (16 bytes
// each), so several rows go side by side when there are few features. Each row has one owner, so nothing is
// added twice.
#pragma once

#include <cstdint>

#include "runtime/cuda/tile_memory.cuh"
#include "runtime/cuda/tile_schedule.hpp"

namespace sptile::runtime::cuda {

struct ShortTask {
  const ShortRows* items;
  std::int32_t item_count;
  std::int32_t lanes_per_row;  ///< power of two, at most 32
  const std::int32_t* rows;    ///< of the rows with entries
  const std::int32_t* empty_rows;
  const std::int32_t* columns;
  const void* values;
};

/// Element e of a chunk as it takes part in sums.
template <class Math>
__device__ __forceinline__ typename Math::Acc chunk_at(const typename Math::Chunk& chunk, int e) {
  using Dense = typename Math::Dense;
  if constexpr (sizeof(Dense) == 2)
    return widen(Dense{static_cast<std::uint16_t>(chunk.w[e / 2] >> (16 * (e % 2)))});
  else
    return chunk.e[e];
}

template <class V, class Math, bool kVector>
class ShortRowsWarp {
  using Dense = typename Math::Dense;
  using Acc = typename Math::Acc;
  static constexpr int kElements = Math::kElements;
  static constexpr int kAhead = 4;  ///< B rows in flight for each lane

 public:
  /// `Task` has b, ldb, c, ldc, n, alpha, beta and row_order.
  template <class Task>
  __device__ __forceinline__ static void run(const Task& task, const ShortTask& part, const ShortRows& item,
                                             int lane) {
    const int lanes = part.lanes_per_row, groups = kWarp / lanes, group = lane / lanes;
    const int first = item.rows * group / groups,
              last = item.rows * (group + 1) / groups;  // this group's rows
    const int most = (item.rows + groups - 1) / groups;
    const std::int32_t* ids = item.length == 0 ? part.empty_rows : part.rows;
    std::int32_t my_row = 0;
    if (lane < item.rows) {
      my_row = __ldg(ids + item.row_begin + lane);
      if (task.row_order != nullptr) my_row = __ldg(task.row_order + my_row);
    }
    for (std::int64_t f = lane % lanes * kElements; __any_sync(~0u, f < task.n); f += lanes * kElements) {
      const Dense* const b = static_cast<const Dense*>(task.b) + f;
      const std::int64_t left = task.n - f;
      Acc sum[kElements] = {};
      for (int r = 0; r < most; ++r) {
        const int row = first + r;
        add_row(task, part, item, b, left, lane, row, sum);
        const std::int32_t to = __shfl_sync(~0u, my_row, row & 31);
        if (row < last) {
          store_piece<kVector>(static_cast<Dense*>(task.c) + to * task.ldc + f, sum,
                               static_cast<Acc>(task.alpha), static_cast<Acc>(task.beta), left);
        }
#pragma unroll
        for (int e = 0; e < kElements; ++e) sum[e] = Acc{0};
      }
    }
  }

 private:
  template <class Task>
  __device__ __forceinline__ static void add_row(const Task& task, const ShortTask& part,
                                                 const ShortRows& item, const Dense* b, std::int64_t left,
                                                 int lane, int row, Acc (&sum)[kElements]) {
    for (int base = 0; base < item.length; base += kAhead) {
      typename Math::Chunk chunk[kAhead];
      Acc value[kAhead];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        chunk[i] = {};
        value[i] = Acc{0};
        const int e = base + i;
        if (e >= item.length || row >= item.rows) continue;
        const std::int64_t entry = item.entry_begin + std::int64_t{row} * item.length + e;
        value[i] = value_at(part, entry);
        load_chunk<kVector>(chunk[i], b + __ldg(part.columns + entry) * task.ldb, left);
      }
#pragma unroll
      for (int i = 0; i < kAhead; ++i)
#pragma unroll
        for (int e = 0; e < kElements; ++e) sum[e] += value[i] * chunk_at<Math>(chunk[i], e);
    }
  }

  __device__ __forceinline__ static Acc value_at(const ShortTask& part, std::int64_t entry) {
    if constexpr (std::is_same_v<V, Ones>)
      return Acc{1};
    else if constexpr (sizeof(V) == 2)
      return widen(V{__ldg(static_cast<const unsigned short*>(part.values) + entry)});
    else
      return widen(__ldg(static_cast<const V*>(part.values) + entry));
  }
};

}  // namespace sptile::runtime::cuda
