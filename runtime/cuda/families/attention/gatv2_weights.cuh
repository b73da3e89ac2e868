// dW of gatv2_edges from the gradients of the scores. A group of lanes sums the products of some features for
// its columns, over its items in order, in registers. A second kernel adds the sums of the groups of a head,
// always in the same order.
#pragma once

#include "runtime/cuda/families/attention/gatv2_group.cuh"
#include "runtime/cuda/families/attention/schedule.hpp"

namespace sptile::runtime::cuda {

/// Processes items of one head in turns, so that W is loaded once for all of them. Derived kernels start with
/// Group::begin().
template <class Group, class Use>
__device__ __forceinline__ void for_each_item(const AttentionTask& task, const Use& use) {
  constexpr int kGroups = kAttentionThreads / Group::kLanes;
  const std::int64_t number = std::int64_t{blockIdx.x} * kGroups + threadIdx.x / Group::kLanes;
  const std::int64_t step = std::int64_t{gridDim.x} * kGroups / task.heads, first = number / task.heads;
  for (std::int64_t base = 0; base < task.item_count; base += step) {
    const bool there = first < step && base + first < task.item_count;
    use(there ? base + first : task.item_count);
    __syncwarp();
  }
}

/// The same result as attention_rows, with W in shared memory.
template <class Group, int kBlocks>
__global__ void __launch_bounds__(kAttentionThreads, kBlocks)
    attention_items(const __grid_constant__ AttentionTask task) {
  constexpr int kGroups = kAttentionThreads / Group::kLanes;
  using Shared = typename Group::Shared;
  alignas(Shared) __shared__ std::byte memory[kGroups * sizeof(Shared)];  // not initialized
  auto* const shared = reinterpret_cast<Shared*>(memory);
  follow_previous_kernel();
  const int thread = static_cast<int>(threadIdx.x), group = thread / Group::kLanes,
            lane = thread % Group::kLanes;
  const int slice = static_cast<int>(blockIdx.z * gridDim.y + blockIdx.y);
  if (slice >= task.slices) return;
  const auto head = static_cast<int>((std::int64_t{blockIdx.x} * kGroups + group) % std::int64_t{task.heads});
  Group(task, shared[group], lane, task.item_count, head, slice).begin(kGatv2W);
  for_each_item<Group>(task,
                       [&](std::int64_t item) { Group(task, shared[group], lane, item, head, slice).run(); });
}

template <class S>
class Gatv2Weights : public Gatv2Group<S, Gatv2Weights<S>, true> {
  using Base = Gatv2Group<S, Gatv2Weights<S>, true>;
  using Base::task_, Base::lane_, Base::slice_, Base::kElements, Base::kStep;
  using typename Base::Acc;
  using typename Base::Chunk;
  using typename Base::Math;

 public:
  static constexpr int kLanes = S::kLanes;
  static constexpr int kFeatures = kWeightSums / kElements;  ///< features that a group sums

  struct Shared : Base::Shared {
    std::int32_t row[Base::kChunk];  ///< rows of staged entries, whose ds is in `bias`
  };

  /// first: first feature.
  __device__ Gatv2Weights(const AttentionTask& task, Shared& shared, int lane, int head, int slice, int first)
      : Base(task, shared, lane, task.item_count, head, slice), rows_(shared.row), first_(first) {
    this->begin(kGatv2WeightsFeatures.w);
    a_ = this->vector(slice_);
  }

  __device__ void add(std::int64_t item) {
    auto& shared = this->shared();
    const CsrWork work =
        load_item<kLanes>(task_, static_cast<int>(item), shared.ends, lane_,
                          [&](std::int32_t row) { return caller_row(task_.row_order, row); });
    __syncwarp();
    const auto load = [&](int k, Staged& entry) {
      entry.column = load_once(task_.columns + work.first + k);
      entry.ds = number_at<Acc>(this->rows_of(kGatv2WeightsDs), work.first + k);
      int r = 0;
      while (shared.ends[r].end <= k) ++r;
      entry.row = shared.ends[r].row;
    };
    const auto stage = [&](int /*base*/, int at, const Staged& entry) {
      shared.column[at] = entry.column;
      shared.bias[at] = entry.ds;
      rows_[at] = entry.row;
    };
    const auto use = [&](int base, int /*here*/, int count) {
#pragma unroll 1
      for (int j = 0; j < count; j += S::kUnroll) step(work, base + j, j);
    };
    walk_staged<Staged, kLanes, Base::kChunk>(
        work.entries, lane_, load, stage, [] {}, use);
  }

  /// Stores the sums times a, one number of each lane after the other. place: among the sums of all groups.
  __device__ void leave(std::int64_t place) const {
    Acc* const to = reinterpret_cast<Acc*>(task_.partials) + place * (kWeightSums * kLanes);
#pragma unroll
    for (int e = 0; e < kElements; ++e)
#pragma unroll
      for (int f = 0; f < kFeatures; ++f)
        __stcg(to + (e * kFeatures + f) * kLanes + lane_, chunk_at<Math>(a_, e) * sums_[e][f]);
  }

 private:
  struct Staged {
    std::int32_t column = 0, row = 0;
    Acc ds = {};
  };

  __device__ __forceinline__ void step(const CsrWork& work, int done, int j) {
    constexpr int kCount = S::kUnroll;
    auto& shared = this->shared();
    Chunk own[kCount], other[kCount];
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      const bool there = done + u < work.entries;
      other[u] = this->part_of(kAttentionY, shared.column[j + u], slice_, there);
      own[u] = this->part_of(kAttentionX, rows_[j + u], slice_, there);
    }
    this->template load_features<kCount>(kGatv2WeightsFeatures.edges, work.first + done, work.entries - done);
    typename Base::Projected by[kCount];
    this->project(by);
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      const Acc ds = done + u < work.entries ? shared.bias[j + u] : Acc{0};
#pragma unroll
      for (int e = 0; e < kElements; ++e)
        by[u].e[e] = ds * this->derivative(this->z_of(own[u], other[u], by[u], e));
    }
#pragma unroll
    for (int f = 0; f < kFeatures; f += kStep) {
      if (first_ + f >= task_.m) break;
#pragma unroll
      for (int u = 0; u < kCount; ++u) {
        const Vec<Acc, kStep> features = shared.features[u][(first_ + f) / kStep];
#pragma unroll
        for (int s = 0; s < kStep; ++s)
#pragma unroll
          for (int e = 0; e < kElements; ++e) sums_[e][f + s] += by[u].e[e] * features.e[s];
      }
    }
  }

  std::int32_t* const rows_;
  const int first_;
  Chunk a_;
  Acc sums_[kElements][kFeatures] = {};
};

/// Parameter of the second kernel. The sums of a part are [head][slice][features][number of a lane][lane].
template <class DenseT, class AccT>
struct WeightsSums {
  using Dense = DenseT;
  using Acc = AccT;
  const Acc* sums;
  std::int64_t parts, numbers;  ///< numbers of all heads
  std::int64_t n, m;
  int lanes, elements, features, feature_slices;
  std::int64_t slices;  ///< slices of columns times those of features
  DenseRows dw;
  bool wide;
};

/// The groups of a head that have items.
SPTILE_HOST_DEVICE constexpr std::int64_t weights_parts(std::int64_t groups, const AttentionTask& task) {
  const std::int64_t parts = groups / task.heads;
  return parts < task.item_count ? parts : task.item_count;
}

template <class Group, int kBlocks>
__global__ void __launch_bounds__(kAttentionThreads, kBlocks)
    gatv2_weights_parts(const __grid_constant__ AttentionTask task) {
  constexpr int kGroups = kAttentionThreads / Group::kLanes, kLanes = Group::kLanes;
  using Shared = typename Group::Shared;
  alignas(Shared) __shared__ std::byte memory[kGroups * sizeof(Shared)];  // not initialized
  auto* const shared = reinterpret_cast<Shared*>(memory);
  follow_previous_kernel();
  const int thread = static_cast<int>(threadIdx.x), group = thread / kLanes;
  const int slice = static_cast<int>(blockIdx.z * gridDim.y + blockIdx.y);
  if (slice >= task.slices) return;
  const auto feature_slices = static_cast<int>((task.m + Group::kFeatures - 1) / Group::kFeatures);
  const std::int64_t number = std::int64_t{blockIdx.x} * kGroups + group, part = number / task.heads;
  const auto head = static_cast<int>(number % task.heads);
  Group sums(task, shared[group], thread % kLanes, head, slice / feature_slices,
             slice % feature_slices * Group::kFeatures);
  for_each_item<Group>(task, [&](std::int64_t item) { sums.add(item); });
  if (part >= weights_parts(std::int64_t{gridDim.x} * kGroups, task)) return;
  sums.leave((part * task.heads + head) * task.slices + slice);
}

inline constexpr int kWeightsThreads = 512;

/// Adds the sums of the parts: a block processes 32 adjacent numbers, and its warps the parts in turns.
template <class Task>
__global__ void __launch_bounds__(kWeightsThreads) gatv2_weights_sums(const __grid_constant__ Task task) {
  using Acc = typename Task::Acc;
  constexpr int kWarps = kWeightsThreads / 32;
  __shared__ Acc shared[kWarps][32];
  follow_previous_kernel();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t number = std::int64_t{blockIdx.x} * 32 + lane;
  Acc sum = 0;
#pragma unroll 4
  for (std::int64_t part = warp; part < task.parts; part += kWarps)
    sum += __ldcg(task.sums + part * task.numbers + number);
  shared[warp][lane] = sum;
  __syncthreads();
  if (warp != 0) return;
  for (int w = 1; w < kWarps; ++w) sum += shared[w][lane];
  const std::int64_t of_lane = number / task.lanes, slice = of_lane / kWeightSums;
  const auto at = static_cast<int>(of_lane % kWeightSums);
  const std::int64_t head = slice / task.slices, of_head = slice % task.slices;
  const std::int64_t c =
      (of_head / task.feature_slices * task.lanes + number % task.lanes) * task.elements + at / task.features;
  const std::int64_t f = of_head % task.feature_slices * task.features + at % task.features;
  if (c >= task.n || f >= task.m) return;
  write_number<typename Task::Dense>(task.dw.data + head * task.dw.batch + c * task.dw.stride, f, task.wide,
                                     sum);
}

}  // namespace sptile::runtime::cuda
