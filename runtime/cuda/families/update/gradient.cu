#include "runtime/cuda/families/update/gradient.cuh"

#include "runtime/cuda/families/update/operands.cuh"
#include "runtime/cuda/families/update/update.hpp"
#include "runtime/operation/update_gradient.hpp"

namespace sptile::runtime::cuda {
namespace {

template <class Dense, class Math, DType kResult>
GradientTask<Dense, Math> task_of(const Launch& launch) {
  const GradientHeader& header = launch.header->as<GradientHeader>();
  const auto& dense = launch.operands.dense;
  const bool derives = launch.variant.activation == Activation::relu;
  GradientTask<Dense, Math> task{};
  task.z = static_cast<const Dense*>(dense[kGradientZ].data);
  task.dc = static_cast<const Dense*>(dense[kGradientDc].data);
  task.c = derives ? static_cast<const Dense*>(dense[kGradientC].data) : nullptr;
  task.g = static_cast<Dense*>(dense[kGradientG].data);
  task.dw = dense[kGradientDw].data;
  task.dbias = dense[kGradientDbias].data;
  task.result = kResult;
  task.ldz = dense[kGradientZ].ld;
  task.lddc = dense[kGradientDc].ld;
  task.ldc = dense[kGradientC].ld;
  task.ldg = dense[kGradientG].ld;
  task.lddw = dense[kGradientDw].ld;
  task.rows = launch.format.rows;
  task.n = launch.n;
  task.m = launch.sizes.m;
  task.parts = header.parts;
  task.rows_per_part = header.rows_per_part;
  task.row_tiles = static_cast<int>((task.n + kGradientTile - 1) / kGradientTile);
  task.tiles = static_cast<int>(gradient_tiles(task.n, task.m));
  task.whole_z = whole_pieces(dense[kGradientZ], task.n, sizeof(Dense));
  task.whole_g = whole_pieces(dense[kGradientDc], task.m, sizeof(Dense));
  task.partials = reinterpret_cast<typename Math::Sum*>(launch.workspace + header.scratch.partials_at);
  task.alpha = launch.operands.alpha;
  return task;
}

template <class Dense, class Math, DType kResult>
int launch_gradient(const Launch& launch, void* stream) noexcept {
  using Task = GradientTask<Dense, Math>;
  using Sum = typename Math::Sum;
  constexpr int kBlocks = update_gradient_policy_for(80, kPrecisionOf<Math>).blocks;
  const Task task = task_of<Dense, Math, kResult>(launch);
  const auto on = static_cast<cudaStream_t>(stream);
  const int code = start_kernel<gradient_parts<Task, kBlocks>>(
      {.blocks = dim3(static_cast<unsigned>(task.parts * task.tiles)),
       .threads = kGradientThreads,
       .shared_bytes = sizeof(GradientShared<Sum>),
       .resident = kAllShared},
      *launch.device, on, task);
  if (code != cudaSuccess) return code;
  const std::int64_t of_bias = task.dbias != nullptr ? (task.m + 31) / 32 : 0;
  const std::int64_t of_tiles = std::int64_t{task.tiles} * (kGradientTile * kGradientTile / 32);
  return start_kernel<add_parts<Task>>({.blocks = dim3(static_cast<unsigned>(of_tiles + of_bias)),
                                        .threads = kGradientThreads,
                                        .shared_bytes = kGradientThreads * sizeof(Sum)},
                                       *launch.device, on, task);
}

template <DType kDense>
Schedule schedule(const ScheduleRequest& request) {
  Schedule schedule;
  schedule.header.set(append_gradient(schedule, request.format.rows, request.n,
                                      planned_m(request.n, request.variant), kDense, request.device));
  return schedule;
}

/// Checks the limit of the grid.
Status check(const ServiceRequest& request) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  const std::int64_t n = request.n, m = planned_m(n, request.variant);
  if (n <= kMost && m <= kMost && gradient_tiles(n, m) <= kMost) return {};
  return fail(Errc::unsupported, "a gradient of " + std::to_string(n) + " x " + std::to_string(m) +
                                     " weights has more than 2^24 tiles of 64 x 64");
}

template <class Dense, class Math, DType kResult>
constexpr DeviceKernel row(Precision precision) {
  return {.kernel = kUpdateGradientRows,
          .values = DType::none,
          .dense = kDTypeOf<Dense>,
          .precision = precision,
          .capability = 80,
          .ieee = true,
          .schedule = schedule<kDTypeOf<Dense>>,
          .launch = launch_gradient<Dense, Math, kResult>,
          .any_values = true,
          .result = kResult,
          .check = check,
          .policy = policy_values_for<update_gradient_policy_for, kPrecisionOf<Math>>};
}

using Tf32 = UpdateF32<false>;
constexpr DeviceKernel kGradientInstances[] = {
    row<float, Tf32, DType::f32>(Precision::tf32),
    row<float, UpdateF32<true>, DType::f32>(Precision::fp32),
    row<double, UpdateF64, DType::f64>(Precision::fp64),
    row<__half, Tf32, DType::f16>(Precision::fp16),
    row<__half, Tf32, DType::f32>(Precision::fp16),
    row<__nv_bfloat16, Tf32, DType::bf16>(Precision::bf16),
    row<__nv_bfloat16, Tf32, DType::f32>(Precision::bf16),
};

}  // namespace

std::span<const DeviceKernel> update_gradient_kernels() { return kGradientInstances; }

}  // namespace sptile::runtime::cuda
