#include "runtime/cuda/attention/backward.cuh"
#include "runtime/cuda/attention/launch.cuh"
#include "runtime/operation/attention_gradient.hpp"
#include "runtime/operation/attention_gradient_t.hpp"

namespace sptile::runtime::cuda {
namespace {

template <class Math>
struct RowsGroups {
  template <int kLanes, bool kVector>
  using Group = AttentionBackward<AttentionShape<Math, kLanes, kVector, 2>, kRowsSide>;
  static constexpr AttentionKind kKind = {&kAttentionGradient, kRowsSide, kRowsSums, false};
  static constexpr int kBlocks = 4;
};

template <class Math>
struct ColumnsGroups {
  template <int kLanes, bool kVector>
  using Group = AttentionBackward<AttentionShape<Math, kLanes, kVector, 2>, kColumnsSide>;
  static constexpr AttentionKind kKind = {&kAttentionGradientT, kColumnsSide, kColumnsSums, false};
  static constexpr int kBlocks = 4;
};

constexpr auto kRowsSideRows = AttentionInstances<RowsGroups>::rows(kCsrAttentionGradient);
constexpr auto kColumnsSideRows = AttentionInstances<ColumnsGroups>::rows(kCsrAttentionGradientT);

}  // namespace

std::span<const DeviceKernel> attention_gradient_kernels() { return kRowsSideRows; }
std::span<const DeviceKernel> attention_gradient_t_kernels() { return kColumnsSideRows; }

}  // namespace sptile::runtime::cuda
