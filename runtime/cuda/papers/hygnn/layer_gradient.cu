// layer_gradient of hc_window as in HyGNN (section 6.1). A second launch adds the blocks' sums of dW in
// order, so that results are reproducible.
#include "runtime/cuda/papers/hygnn/layer_gradient.cuh"

#include "runtime/cuda/families/update/operands.cuh"
#include "runtime/cuda/papers/hygnn/hygnn.hpp"
#include "runtime/cuda/papers/hygnn/launch.cuh"
#include "runtime/operation/layer_gradient.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Returns the addition of the blocks' sums.
HygnnWeightSums sums_of(const Launch& launch, const HygnnGradientHeader& header) {
  const Operand& dw = launch.operands.dense[kLayerDw];
  HygnnWeightSums sums{};
  sums.dw = dw.data;
  sums.lddw = dw.ld;
  sums.result = DType::f32;
  sums.n = launch.n;
  sums.m = launch.sizes.m;
  sums.parts = header.blocks;
  sums.row_tiles = static_cast<int>((sums.n + kGradientTile - 1) / kGradientTile);
  sums.tiles = static_cast<int>(gradient_tiles(sums.n, sums.m));
  sums.partials = reinterpret_cast<float*>(launch.workspace + header.scratch.partials_at);
  sums.alpha = launch.operands.alpha;
  return sums;
}

HygnnLayer layer_of(const Launch& launch) {
  const Operand &w = launch.operands.dense[kLayerW], &dx = launch.operands.dense[kLayerDx];
  return {.row_order = launch.row_order,
          .weights = {w.data, 1, w.ld, launch.sizes.m, launch.n},
          .result = {.c = dx.data,
                     .ldc = dx.ld,
                     .m = launch.n,
                     .type = DType::f32,
                     .bias = nullptr,
                     .bias_type = DType::f32,
                     .alpha = launch.operands.alpha,
                     .relu = false,
                     .whole = whole_pieces(dx, launch.n, sizeof(float))}};
}

HygnnGradientTask task_of(const Launch& launch, const HygnnGradientHeader& header) {
  const Operand& x = launch.operands.dense[kLayerX];
  const std::int64_t m = launch.sizes.m;
  return {.operands = hygnn_operands(launch, header.rows, m, hygnn_threads_per_row(m)),
          .layer = layer_of(launch),
          .x = static_cast<const float*>(x.data),
          .ldx = x.ld,
          .shape = {launch.n, m},
          .sums = sums_of(launch, header),
          .windows = static_cast<std::int32_t>(hygnn_windows(launch)),
          .windows_per_block = header.windows_per_block};
}

template <class V>
int launch_gradient(const Launch& launch, void* stream) noexcept {
  const auto& header = launch.header->as<HygnnGradientHeader>();
  const HygnnGradientTask task = task_of(launch, header);
  const auto on = static_cast<cudaStream_t>(stream);
  if (header.blocks > 0) {
    const std::int64_t bytes = task.shape.size() * static_cast<std::int64_t>(sizeof(float));
    const int code = start_kernel<hygnn_layer_gradient<V>>(
        hygnn_shape(header.blocks, kHygnnMaxWarps * kWarpSize, bytes), *launch.device, on, task);
    if (code != cudaSuccess) return code;
  }
  const std::int64_t blocks = std::int64_t{task.sums.tiles} * (kGradientTile * kGradientTile / kWarpSize);
  return start_kernel<add_parts<HygnnWeightSums>>({.blocks = dim3(static_cast<unsigned>(blocks)),
                                                   .threads = kGradientThreads,
                                                   .shared_bytes = kGradientThreads * sizeof(float)},
                                                  *launch.device, on, task.sums);
}

Status check(const ServiceRequest& request) {
  return check_hygnn_gradient({request.n, planned_m(request.n, request.variant)}, kHygnnNumbersAt,
                              request.device);
}

constexpr DeviceKernel kInstances[] = {
    hygnn_row(kHygnnLayerGradient, DType::f32, launch_gradient<float>, schedule_hygnn_gradient, check),
    hygnn_row(kHygnnLayerGradient, DType::none, launch_gradient<Ones>, schedule_hygnn_gradient, check)};

}  // namespace

std::span<const DeviceKernel> hygnn_layer_gradient_kernels() { return kInstances; }

}  // namespace sptile::runtime::cuda
