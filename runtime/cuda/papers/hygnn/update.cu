// spmm_update of hc_window as in HyGNN (section 6.1): one launch, a block per window.
#include "runtime/cuda/papers/hygnn/update.cuh"

#include <algorithm>
#include <string>

#include "runtime/cuda/families/update/operands.cuh"
#include "runtime/cuda/papers/hygnn/hygnn.hpp"
#include "runtime/cuda/papers/hygnn/launch.cuh"

namespace sptile::runtime::cuda {
namespace {

HygnnUpdateTask task_of(const Launch& launch) {
  const Operand& z = launch.operands.dense[kUpdateZ];
  return {.operands = hygnn_operands(launch, launch.header->as<HygnnHeader>(), launch.n,
                                     hygnn_threads_per_row(launch.n)),
          .layer = {.row_order = launch.row_order,
                    .z = static_cast<float*>(z.data),
                    .ldz = z.ld,
                    .weights = weights_of(launch),
                    .result = result_of(launch, {DType::f32, DType::f32})},
          .stride = static_cast<int>(window_stride(launch.n))};
}

/// Returns enough warps for the columns of both products, at most 8.
unsigned warps_of(const Launch& launch) {
  const std::int64_t groups = (launch.sizes.m + kColumnGroup - 1) / kColumnGroup;
  return std::max(hygnn_warps(launch.n),
                  static_cast<unsigned>(std::min<std::int64_t>(groups, kHygnnMaxWarps)));
}

template <class V>
int launch_update(const Launch& launch, void* stream) noexcept {
  const std::int64_t windows = hygnn_windows(launch);
  if (windows == 0) return cudaSuccess;
  return start_kernel<hygnn_update<V>>(
      hygnn_shape(windows, warps_of(launch) * kWarpSize, hygnn_aggregate_bytes(launch.n)), *launch.device,
      static_cast<cudaStream_t>(stream), task_of(launch));
}

Status check(const ServiceRequest& request) {
  return check_hygnn_update(request.n, kHygnnNumbersAt, request.device);
}

constexpr DeviceKernel kInstances[] = {
    hygnn_row(kHygnnUpdate, DType::f32, launch_update<float>, schedule_hygnn, check),
    hygnn_row(kHygnnUpdate, DType::none, launch_update<Ones>, schedule_hygnn, check)};

}  // namespace

std::span<const DeviceKernel> hygnn_update_kernels() { return kInstances; }

}  // namespace sptile::runtime::cuda
