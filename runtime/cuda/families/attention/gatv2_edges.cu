#include "runtime/cuda/families/attention/gatv2_weights.cuh"
#include "runtime/cuda/families/attention/launch.cuh"
#include "runtime/operation/gatv2_edges.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Rows of X and Y that a group of lanes loads together. f64 needs more shared memory per number.
template <class Math>
constexpr int kFeaturesTogether = AttentionPolicy{}.rows_in_flight /
                                  (sizeof(typename Math::Dense) == 8 ? 2 : 1);
/// Maximum lanes, as in gatv2: 16-bit rows of more than 128 columns are rare, and f64 is for tests of
/// gradients.
template <class Math>
constexpr int kFeaturesLanes = sizeof(typename Math::Dense) == 8   ? 0
                               : sizeof(typename Math::Dense) == 2 ? 16
                                                                   : 32;
/// Blocks per place on the device: more than one balance the load, but each loads W.
constexpr std::int64_t kItemWaves = 2;

constexpr AttentionSide side_of_features(int operand) {
  AttentionSide side{};
  side.other = side.other_values = operand;
  return side;
}
constexpr AttentionSide kFeaturesOfY = side_of_features(kAttentionY),
                        kFeaturesOfX = side_of_features(kAttentionX);

dim3 item_grid(const AttentionTask& task, const Launch& launch, int lanes, std::int64_t waves) {
  constexpr std::int64_t kMostInY = 65535;
  const std::int64_t groups = kAttentionThreads / lanes;
  const std::int64_t needed = (std::int64_t{task.item_count} * task.heads + groups - 1) / groups;
  const std::int64_t blocks = std::min(needed, most_item_blocks(waves, launch.device->sm_count, task.heads));
  const std::int64_t y = std::min<std::int64_t>(task.slices, kMostInY);
  return {static_cast<unsigned>(blocks), static_cast<unsigned>(y),
          static_cast<unsigned>((task.slices + y - 1) / y)};
}

/// Members that the kinds with features share.
template <class Math>
struct FeaturesKind {
  static constexpr bool kFeatures = true, kOneSlice = true;
  static constexpr int kMostLanes = kFeaturesLanes<Math>;

  template <class Group, int kBlocks>
  static int start(const AttentionTask& task, const Launch& launch, void* stream) {
    const dim3 grid = item_grid(task, launch, Group::kLanes, kItemWaves * kBlocks);
    return start_kernel<attention_items<Group, kBlocks>>({.blocks = grid, .threads = kAttentionThreads},
                                                         *launch.device, static_cast<cudaStream_t>(stream),
                                                         task);
  }
};

template <class Math>
struct FeaturesForwardGroups : FeaturesKind<Math> {
  template <int kLanes, bool kVector>
  using Group = Gatv2Forward<AttentionShape<Math, kLanes, kVector, kFeaturesTogether<Math>>, true>;
  static constexpr AttentionKind kKind = {&kGatv2WithFeatures, kFeaturesOfY, kForwardSums, false,
                                          AttentionStep::features};
};

template <class Math>
struct FeaturesRowsGroups : FeaturesKind<Math> {
  template <int kLanes, bool kVector>
  using Group =
      Gatv2Backward<AttentionShape<Math, kLanes, kVector, kFeaturesTogether<Math>>, kGatv2EdgesRows>;
  static constexpr AttentionKind kKind = {&kGatv2WithFeaturesGradient, kFeaturesOfY, kGatv2RowsSums, false,
                                          AttentionStep::features};
};

template <class Math>
struct FeaturesColumnsGroups : FeaturesKind<Math> {
  template <int kLanes, bool kVector>
  using Group =
      Gatv2Backward<AttentionShape<Math, kLanes, kVector, kFeaturesTogether<Math>>, kGatv2EdgesColumns>;
  static constexpr AttentionKind kKind = {&kGatv2WithFeaturesGradientT, kFeaturesOfX, kGatv2ColumnsSums,
                                          false, AttentionStep::features};
};

template <class Math>
struct FeaturesWeightsGroups : FeaturesKind<Math> {
  template <int kLanes, bool kVector>
  using Group = Gatv2Weights<AttentionShape<Math, kLanes, kVector, kFeaturesTogether<Math>>>;
  static constexpr AttentionKind kKind = {
      &kGatv2WithFeaturesWeights, kFeaturesOfY, {}, false, AttentionStep::weights};
  static constexpr bool kWithoutItems = true;

  static Schedule schedule(const ScheduleRequest& request, DType dense) {
    return schedule_gatv2_weights(request, dense, attention_policy_for(80, dense, kKind.step).blocks);
  }

  template <class Group, int kBlocks>
  static int start(AttentionTask task, const Launch& launch, void* stream) {
    using Sums = WeightsSums<typename Math::Dense, typename Math::Acc>;
    const auto to = static_cast<cudaStream_t>(stream);
    const auto feature_slices = static_cast<int>((task.m + Group::kFeatures - 1) / Group::kFeatures);
    const std::int64_t slices = std::int64_t{task.slices} * feature_slices;
    task.slices = static_cast<std::int32_t>(slices);
    const dim3 grid = item_grid(task, launch, Group::kLanes, kBlocks);
    if (task.item_count > 0) {
      const int started = start_kernel<gatv2_weights_parts<Group, kBlocks>>(
          {.blocks = grid, .threads = kAttentionThreads}, *launch.device, to, task);
      if (started != cudaSuccess) return started;
    }
    constexpr std::int64_t kGroups = kAttentionThreads / Group::kLanes;
    const Sums sums = {.sums = reinterpret_cast<const typename Math::Acc*>(task.partials),
                       .parts = weights_parts(grid.x * kGroups, task),
                       .numbers = task.heads * slices * (kWeightSums * Group::kLanes),
                       .n = task.n,
                       .m = task.m,
                       .lanes = Group::kLanes,
                       .elements = Math::kElements,
                       .features = Group::kFeatures,
                       .feature_slices = feature_slices,
                       .slices = slices,
                       .dw = task.dense[kGatv2WeightsGradient],
                       .wide = task.wide};
    return start_kernel<gatv2_weights_sums<Sums>>(
        {.blocks = static_cast<unsigned>(sums.numbers / 32), .threads = kWeightsThreads}, *launch.device, to,
        sums);
  }
};

constexpr auto kFeaturesInstances = AttentionInstances<FeaturesForwardGroups>::rows(kCsrGatv2Features);
constexpr auto kFeaturesRowsInstances =
    AttentionInstances<FeaturesRowsGroups>::rows(kCsrGatv2FeaturesGradient);
constexpr auto kFeaturesColumnsInstances =
    AttentionInstances<FeaturesColumnsGroups>::rows(kCsrGatv2FeaturesGradientT);
constexpr auto kFeaturesWeightsInstances =
    AttentionInstances<FeaturesWeightsGroups>::rows(kCsrGatv2FeaturesWeights);

}  // namespace

std::span<const DeviceKernel> gatv2_features_kernels() { return kFeaturesInstances; }
std::span<const DeviceKernel> gatv2_features_gradient_kernels() { return kFeaturesRowsInstances; }
std::span<const DeviceKernel> gatv2_features_gradient_t_kernels() { return kFeaturesColumnsInstances; }
std::span<const DeviceKernel> gatv2_features_weights_kernels() { return kFeaturesWeightsInstances; }

}  // namespace sptile::runtime::cuda
