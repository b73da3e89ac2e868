#include "runtime/cuda/families/attention/softmax.cuh"

#include "runtime/cuda/families/attention/attention.hpp"
#include "runtime/cuda/families/attention/launch.cuh"
#include "runtime/operation/softmax_rows.hpp"
#include "runtime/operation/softmax_rows_gradient.hpp"

namespace sptile::runtime::cuda {
namespace {

template <class Job, class Types, int kLanes>
int start_softmax(const SoftmaxTask& task, const Launch& launch, void* stream) {
  constexpr std::int64_t kRowsOfBlock = kSoftmaxThreads / kLanes;
  const std::int64_t blocks = task.long_count + (task.rows + kRowsOfBlock - 1) / kRowsOfBlock;
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(launch.sizes.heads), 1);
  return start_kernel<softmax_of_rows<Job, Types, kLanes>>(
      {.blocks = grid, .threads = kSoftmaxThreads}, *launch.device, static_cast<cudaStream_t>(stream), task);
}

template <class Job, const Operation& kOp, class Types, DType kDense, DType kResult>
int launch_softmax(const Launch& launch, void* stream) noexcept {
  const SoftmaxHeader& header = launch.header->as<SoftmaxHeader>();
  if (launch.format.nnz == 0) return cudaSuccess;
  const std::size_t last = kOp.operands.size() - 1;
  const auto list = [&](std::size_t i) {
    return dense_rows(kOp.operands[i], launch.operands.dense[i], {kDense, kResult});
  };
  const SoftmaxTask task{formats::as_csr(launch.format).row_ptr.data(),
                         launch.part<std::int32_t>(header.long_at),
                         static_cast<std::int32_t>(launch.format.rows),
                         static_cast<std::int32_t>(header.long_rows),
                         {list(0), list(1)},
                         list(last),
                         launch.operands.alpha};
  const auto start = header.lanes == 8 ? start_softmax<Job, Types, 8> : start_softmax<Job, Types, 32>;
  return start(task, launch, stream);
}

template <class Job, const Operation& kOp>
struct SoftmaxInstances {
  template <class Dense, class Acc, DType kDense, class Result = Dense, DType kResult = kDense>
  static constexpr DeviceKernel row(std::string_view kernel, Precision precision) {
    DeviceKernel made = batched_instance(
        kernel, kDense, precision, schedule_softmax,
        launch_softmax<Job, kOp, SoftmaxTypes<Dense, Result, Acc>, kDense, kResult>, kResult);
    made.policy = policy_values_for<softmax_policy_for>;
    return made;
  }
  static constexpr std::array<DeviceKernel, 6> rows(std::string_view kernel) {
    return {row<float, float, DType::f32>(kernel, Precision::fp32),
            row<Half, float, DType::f16>(kernel, Precision::fp16),
            row<BFloat16, float, DType::bf16>(kernel, Precision::bf16),
            row<Half, float, DType::f16, float, DType::f32>(kernel, Precision::fp16),
            row<BFloat16, float, DType::bf16, float, DType::f32>(kernel, Precision::bf16),
            row<double, double, DType::f64>(kernel, Precision::fp64)};
  }
};

constexpr auto kSoftmaxInstances = SoftmaxInstances<SoftmaxForward, kSoftmaxRows>::rows(kCsrSoftmax);
constexpr auto kSoftmaxGradientInstances =
    SoftmaxInstances<SoftmaxBackward, kSoftmaxRowsGradient>::rows(kCsrSoftmaxGradient);

}  // namespace

std::span<const DeviceKernel> softmax_kernels() { return kSoftmaxInstances; }
std::span<const DeviceKernel> softmax_gradient_kernels() { return kSoftmaxGradientInstances; }

}  // namespace sptile::runtime::cuda
