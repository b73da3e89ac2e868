#include "runtime/cuda/families/reduce/launch.cuh"
#include "runtime/cuda/families/reduce/rules.cuh"

namespace sptile::runtime::cuda {
namespace {

/// Maxima, or minima if kSign is -1.
template <class Dense, DType kDense, int kSign>
struct Extremes {
  using Rule = LargestRule<Dense>;

  static Schedule schedule(const ScheduleRequest& request) {
    return schedule_reduction<kDense>(request, sizeof(typename Rule::State));
  }
  static int launch(const Launch& launch, void* stream) noexcept {
    return start_reduction<Rule>(launch, stream, kReduceB, kReduceArg, kReduceC, kSign);
  }
};
template <class Dense, DType kDense>
using Maxima = Extremes<Dense, kDense, 1>;
template <class Dense, DType kDense>
using Minima = Extremes<Dense, kDense, -1>;

constexpr auto kMaxInstances = ReduceInstances<Maxima>::rows(kCsrMax);
constexpr auto kMinInstances = ReduceInstances<Minima>::rows(kCsrMin);

}  // namespace

std::span<const DeviceKernel> max_kernels() { return kMaxInstances; }
std::span<const DeviceKernel> min_kernels() { return kMinInstances; }

}  // namespace sptile::runtime::cuda
