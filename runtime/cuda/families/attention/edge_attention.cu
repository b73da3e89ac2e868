#include "runtime/operation/edge_attention.hpp"

#include "runtime/cuda/families/attention/edge_group.cuh"
#include "runtime/cuda/families/attention/launch.cuh"

namespace sptile::runtime::cuda {
namespace {

constexpr int kEdgesTogether = AttentionPolicy{}.rows_in_flight;

/// Rows of 16-bit heads rarely have more than 128 columns; f64 is for tests of gradients.
template <class Math>
constexpr int kEdgeLanes = sizeof(typename Math::Dense) == 8   ? 0
                           : sizeof(typename Math::Dense) == 2 ? 16
                                                               : 32;

/// Slices divide the rows of V and those of edges.
constexpr AttentionSide kOfValuesAndEdges = [] {
  AttentionSide side{};
  side.other = kAttentionY;
  side.other_values = kAttentionV;
  side.of_columns = true;
  return side;
}();

template <class Math>
struct EdgeForwardGroups {
  template <int kLanes, bool kVector>
  using Group = EdgeForward<AttentionShape<Math, kLanes, kVector, kEdgesTogether>>;
  static constexpr AttentionKind kKind = {&kEdgeAttention, kOfValuesAndEdges, kEdgeForwardSums, false,
                                          AttentionStep::forward};
  static constexpr bool kOneSlice = true;
  static constexpr int kMostLanes = kEdgeLanes<Math>;
};

template <class Math>
struct EdgeBackwardGroups {
  template <int kLanes, bool kVector>
  using Group = EdgeBackward<AttentionShape<Math, kLanes, kVector, kEdgesTogether>>;
  static constexpr AttentionKind kKind = {&kEdgeAttentionGradient, kOfValuesAndEdges, kEdgeBackwardSums,
                                          false, AttentionStep::columns_gradient};
  static constexpr bool kOneSlice = true;
  static constexpr int kMostLanes = kEdgeLanes<Math>;
};

constexpr auto kEdgeForwardInstances = AttentionInstances<EdgeForwardGroups>::rows(kCsrEdgeAttention);
constexpr auto kEdgeBackwardInstances =
    AttentionInstances<EdgeBackwardGroups>::rows(kCsrEdgeAttentionGradient);

}  // namespace

std::span<const DeviceKernel> edge_attention_kernels() { return kEdgeForwardInstances; }
std::span<const DeviceKernel> edge_attention_gradient_kernels() { return kEdgeBackwardInstances; }

}  // namespace sptile::runtime::cuda
