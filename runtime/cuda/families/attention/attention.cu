#include "runtime/cuda/families/attention/forward.cuh"
#include "runtime/cuda/families/attention/launch.cuh"
#include "runtime/cuda/families/attention/pass.cuh"
#include "runtime/operation/attention.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr AttentionKind kForward = {&kAttention, kRowsSide, kForwardSums, true, AttentionStep::forward};

template <class Math>
struct ForwardGroups {
  template <int kLanes, bool kVector>
  using Group = AttentionForward<AttentionShape<Math, kLanes, kVector, AttentionPolicy{}.rows_in_flight>>;
  static constexpr AttentionKind kKind = kForward;
  static constexpr bool kOneSlice = sizeof(typename Math::Acc) == 8;
};

template <class Math, int kLanes, PassRows kRows>
int start_pass(const AttentionTask& task, const Launch& launch, void* stream) {
  constexpr std::int64_t kGroups = kPassThreads / kLanes;
  const std::int64_t blocks = (std::int64_t{task.item_count} * task.heads + kGroups - 1) / kGroups;
  if (blocks > INT_MAX) return cudaErrorInvalidValue;
  return start_kernel<attention_pass<PassShape<Math, kLanes, kRows>>>(
      {.blocks = dim3(static_cast<unsigned>(blocks)), .threads = kPassThreads}, *launch.device,
      static_cast<cudaStream_t>(stream), task);
}

template <class Math, int kLanes>
int start_lanes(const AttentionTask& task, const Launch& launch, void* stream) {
  if (task.score == Score::additive)
    return start_pass<Math, kLanes, PassRows::additive>(task, launch, stream);
  return task.tied ? start_pass<Math, kLanes, PassRows::tied>(task, launch, stream)
                   : start_pass<Math, kLanes, PassRows::apart>(task, launch, stream);
}

/// Uses a single pass if a slice holds a row and rows consist of full 16-byte pieces. For additive scores,
/// groups of two lanes are faster, because there are no products to reduce.
template <class Math, DType kDense, DType kResult>
int launch_forward(const Launch& launch, void* stream) noexcept {
  constexpr DenseTypes kTypes = {kDense, kResult};
  if constexpr (kDense != DType::f64) {
    const AttentionTask task = attention_task(kForward, launch, kTypes);
    const CsrGeometry geometry = csr_geometry(std::max(task.n, task.m), Math::kElements);
    const bool few = task.score == Score::additive && task.m <= kFewLanes * Math::kElements;
    if (task.item_count > 0 && geometry.slices == 1 && !few && all_whole(kAttention, task, kTypes)) {
      if (geometry.lanes == 8) return start_lanes<Math, 8>(task, launch, stream);
      if (geometry.lanes == 16) return start_lanes<Math, 16>(task, launch, stream);
      return start_lanes<Math, 32>(task, launch, stream);
    }
  }
  using Instances = AttentionInstances<ForwardGroups>;
  using Any = std::conditional_t<kDense == DType::f16, MathHalf<Half, 8>,
                                 std::conditional_t<kDense == DType::bf16, MathHalf<BFloat16, 8>, Math>>;
  return Instances::launch<Any, kDense, kResult>(launch, stream);
}

template <class Math, DType kDense, DType kResult = kDense>
constexpr DeviceKernel row(Precision precision) {
  using Instances = AttentionInstances<ForwardGroups>;
  DeviceKernel made = batched_instance(kCsrAttention, kDense, precision, Instances::schedule<kDense>,
                                       launch_forward<Math, kDense, kResult>, kResult);
  made.least_n = Instances::least_n<kDense>;
  made.policy = Instances::policy<kDense>;
  return made;
}

constexpr DeviceKernel kForwardRows[] = {
    row<MathF32<false>, DType::f32>(Precision::fp32),
    row<MathHalf<Half, 8>, DType::f16>(Precision::fp16),
    row<MathHalf<BFloat16, 8>, DType::bf16>(Precision::bf16),
    row<MathHalf<Half, 8, float>, DType::f16, DType::f32>(Precision::fp16),
    row<MathHalf<BFloat16, 8, float>, DType::bf16, DType::f32>(Precision::bf16),
    row<MathF64, DType::f64>(Precision::fp64)};

}  // namespace

std::span<const DeviceKernel> attention_kernels() { return kForwardRows; }

}  // namespace sptile::runtime::cuda
