#include "runtime/cuda/families/attention/backward.cuh"
#include "runtime/cuda/families/attention/launch.cuh"
#include "runtime/operation/attention_gradient.hpp"
#include "runtime/operation/attention_gradient_t.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr int kTogether = AttentionPolicy{}.rows_in_flight;

template <class Math>
struct RowsGroups {
  template <int kLanes, bool kVector>
  using Group = AttentionBackward<AttentionShape<Math, kLanes, kVector, kTogether>, kRowsSide>;
  static constexpr AttentionKind kKind = {&kAttentionGradient, kRowsSide, kRowsSums, false,
                                          AttentionStep::rows_gradient};
  static constexpr bool kOneSlice = true;
};

template <class Math>
struct ColumnsGroups {
  template <int kLanes, bool kVector>
  using Group = AttentionBackward<AttentionShape<Math, kLanes, kVector, kTogether>, kColumnsSide>;
  static constexpr AttentionKind kKind = {&kAttentionGradientT, kColumnsSide, kColumnsSums, false,
                                          AttentionStep::columns_gradient};
  static constexpr bool kOneSlice = true;
};

constexpr auto kRowsSideRows = AttentionInstances<RowsGroups>::rows(kCsrAttentionGradient);
constexpr auto kColumnsSideRows = AttentionInstances<ColumnsGroups>::rows(kCsrAttentionGradientT);

}  // namespace

std::span<const DeviceKernel> attention_gradient_kernels() { return kRowsSideRows; }
std::span<const DeviceKernel> attention_gradient_t_kernels() { return kColumnsSideRows; }

}  // namespace sptile::runtime::cuda
