#include "runtime/cuda/attention/forward.cuh"
#include "runtime/cuda/attention/launch.cuh"
#include "runtime/operation/attention.hpp"

namespace sptile::runtime::cuda {
namespace {

template <class Math>
struct ForwardGroups {
  template <int kLanes, bool kVector>
  using Group = AttentionForward<AttentionShape<Math, kLanes, kVector, 4>>;
  static constexpr AttentionKind kKind = {&kAttention, kRowsSide, kForwardSums, true};
  static constexpr int kBlocks = sizeof(typename Math::Acc) == 8 ? 3 : 4;
};

constexpr auto kForwardRows = AttentionInstances<ForwardGroups>::rows(kCsrAttention);

}  // namespace

std::span<const DeviceKernel> attention_kernels() { return kForwardRows; }

}  // namespace sptile::runtime::cuda
