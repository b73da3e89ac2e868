#include "runtime/cuda/families/attention/gatv2_group.cuh"
#include "runtime/cuda/families/attention/launch.cuh"
#include "runtime/operation/gatv2.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr int kPairsTogether = AttentionPolicy{}.rows_in_flight;

/// Rows of 16-bit heads rarely have more than 128 columns; f64 is for tests of gradients.
template <class Math>
constexpr int kGatv2Lanes = sizeof(typename Math::Dense) == 8   ? 0
                            : sizeof(typename Math::Dense) == 2 ? 16
                                                                : 32;

/// Returns the operands that launches read: the rows to which entries refer.
constexpr AttentionSide side_of(int operand) {
  AttentionSide side{};
  side.other = side.other_values = operand;
  return side;
}
constexpr AttentionSide kOfY = side_of(kAttentionY), kOfX = side_of(kAttentionX);

template <class Math>
struct Gatv2ForwardGroups {
  template <int kLanes, bool kVector>
  using Group = Gatv2Forward<AttentionShape<Math, kLanes, kVector, kPairsTogether>>;
  static constexpr AttentionKind kKind = {&kGatv2, kOfY, kForwardSums, false, AttentionStep::forward};
  static constexpr bool kOneSlice = true;
  static constexpr int kMostLanes = kGatv2Lanes<Math>;
};

template <class Math>
struct Gatv2RowsGroups {
  template <int kLanes, bool kVector>
  using Group = Gatv2Backward<AttentionShape<Math, kLanes, kVector, kPairsTogether>, kGatv2Rows>;
  static constexpr AttentionKind kKind = {&kGatv2Gradient, kOfY, kGatv2RowsSums, false,
                                          AttentionStep::columns_gradient};
  static constexpr bool kOneSlice = true;
  static constexpr int kMostLanes = kGatv2Lanes<Math>;
};

template <class Math>
struct Gatv2ColumnsGroups {
  template <int kLanes, bool kVector>
  using Group = Gatv2Backward<AttentionShape<Math, kLanes, kVector, kPairsTogether>, kGatv2Columns>;
  static constexpr AttentionKind kKind = {&kGatv2GradientT, kOfX, kGatv2ColumnsSums, false,
                                          AttentionStep::columns_gradient};
  static constexpr bool kOneSlice = true;
  static constexpr int kMostLanes = kGatv2Lanes<Math>;
};

constexpr auto kGatv2Instances = AttentionInstances<Gatv2ForwardGroups>::rows(kCsrGatv2);
constexpr auto kGatv2RowsInstances = AttentionInstances<Gatv2RowsGroups>::rows(kCsrGatv2Gradient);
constexpr auto kGatv2ColumnsInstances = AttentionInstances<Gatv2ColumnsGroups>::rows(kCsrGatv2GradientT);

}  // namespace

std::span<const DeviceKernel> gatv2_kernels() { return kGatv2Instances; }
std::span<const DeviceKernel> gatv2_gradient_kernels() { return kGatv2RowsInstances; }
std::span<const DeviceKernel> gatv2_gradient_t_kernels() { return kGatv2ColumnsInstances; }

}  // namespace sptile::runtime::cuda
