#include "runtime/cuda/families/update/dense.cuh"
#include "runtime/cuda/families/update/tall_rows.cuh"

#include <algorithm>
#include <vector>

#include "runtime/cuda/families/update/operands.cuh"
#include "runtime/cuda/families/update/update.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr DenseUpdatePolicy kPolicy;

/// Returns the bytes of all weights, in steps of 16 columns of Z.
template <class Task>
std::int64_t tall_bytes(const Task& task) {
  return (task.n + 15) / 16 * 2 * ((task.result.m + kColumnGroup - 1) / kColumnGroup) * 128 *
         static_cast<std::int64_t>(sizeof(typename Task::Math::Weights));
}

/// Returns whether the weights fit twice on a multiprocessor and rows of Z can be read four numbers at a
/// time.
template <class Task>
bool fits_tall(const Task& task) {
  constexpr std::int64_t kColumns = 1 << 16;
  return task.fours && task.n <= kColumns && task.result.m <= kColumns &&
         tall_bytes(task) <= kPolicy.max_tall_bytes;
}

template <class Task>
int start_tall(const Task& task, const Launch& launch, void* stream) {
  const std::int64_t bytes = tall_bytes(task), warps = kTallThreads / 32;
  const auto all = static_cast<std::int64_t>(launch.device->shared_per_block + 1024);
  const std::int64_t blocks_per_sm = std::clamp<std::int64_t>(all / (bytes + 1024), 1, kPolicy.tall_blocks);
  const std::int64_t tiles = (task.rows + kWindowRows - 1) / kWindowRows;
  const std::int64_t blocks =
      std::min((tiles + warps - 1) / warps, blocks_per_sm * std::max(launch.device->sm_count, 1));
  return start_kernel<tall_update<Task>>({.blocks = dim3(static_cast<unsigned>(blocks)),
                                          .threads = kTallThreads,
                                          .shared_bytes = static_cast<std::size_t>(bytes),
                                          .resident = kAllShared},
                                         *launch.device, static_cast<cudaStream_t>(stream), task);
}

template <class Task>
int launch_task(Task& task, const Launch& launch, void* stream) {
  using Math = typename Task::Math;
  const int width = slice_columns(task.n);
  const auto part = static_cast<std::int64_t>(sizeof(typename Math::Weights)) * (width / Math::kStep) *
                    (kDenseColumns / kColumnGroup) * 128;
  task.slices = static_cast<int>((task.n + kDenseSlice - 1) / kDenseSlice);
  task.columns = static_cast<int>((launch.sizes.m + kDenseColumns - 1) / kDenseColumns);
  task.resident =
      task.slices == 1 && (task.columns == 1 || task.columns * part <= kPolicy.max_resident_bytes);
  task.tiles = (task.rows + kDenseRows - 1) / kDenseRows;
  if (task.tiles == 0) return cudaSuccess;
  if constexpr (!std::is_same_v<Math, UpdateF64>)
    if (fits_tall(task)) return start_tall(task, launch, stream);
  const std::int64_t shared =
      part * (task.resident ? task.columns : 1) +
      std::int64_t{kDenseRows} * tile_stride(width) * static_cast<std::int64_t>(sizeof(typename Math::Sum));
  const std::int64_t blocks =
      std::min(task.tiles, std::int64_t{kPolicy.grid_blocks} * std::max(launch.device->sm_count, 1));
  return start_kernel<dense_update<Task, dense_update_policy_for(80, kPrecisionOf<Math>).blocks>>(
      {.blocks = dim3(static_cast<unsigned>(blocks)),
       .threads = kDenseThreads,
       .shared_bytes = static_cast<std::size_t>(shared),
       .resident = kAllShared},
      *launch.device, static_cast<cudaStream_t>(stream), task);
}

template <class Dense, class Math, DType kResult>
int launch_dense(const Launch& launch, void* stream) noexcept {
  const Operand& z = launch.operands.dense[kUpdateZ];
  constexpr DType kDense = kDTypeOf<Dense>;
  DenseTask<Dense, Math> task{};
  task.z = static_cast<const Dense*>(z.data);
  task.ldz = z.ld;
  task.rows = launch.format.rows;
  task.n = launch.n;
  task.whole = whole_pieces(z, launch.n, sizeof(Dense));
  task.fours = whole_pieces(z, launch.n, sizeof(Dense), 4 * sizeof(Dense));
  task.weights = weights_of(launch);
  task.result = result_of(launch, {kDense, kResult});
  return launch_task(task, launch, stream);
}

Schedule no_schedule(const ScheduleRequest& /*request*/) { return {}; }

template <class Dense, class Math, DType kResult>
constexpr DeviceKernel row(std::string_view kernel, Precision precision) {
  return {.kernel = kernel,
          .values = DType::none,
          .dense = kDTypeOf<Dense>,
          .precision = precision,
          .capability = 80,
          .ieee = true,
          .schedule = no_schedule,
          .launch = launch_dense<Dense, Math, kResult>,
          .any_values = true,
          .result = kResult,
          .policy = policy_values_for<dense_update_policy_for, kPrecisionOf<Math>>};
}

std::vector<DeviceKernel> rows_of(std::string_view kernel) {
  using Tf32 = UpdateF32<false>;
  return {row<float, Tf32, DType::f32>(kernel, Precision::tf32),
          row<float, UpdateF32<true>, DType::f32>(kernel, Precision::fp32),
          row<double, UpdateF64, DType::f64>(kernel, Precision::fp64),
          row<__half, Tf32, DType::f16>(kernel, Precision::fp16),
          row<__half, Tf32, DType::f32>(kernel, Precision::fp16),
          row<__nv_bfloat16, Tf32, DType::bf16>(kernel, Precision::bf16),
          row<__nv_bfloat16, Tf32, DType::f32>(kernel, Precision::bf16)};
}

}  // namespace

template <int kIndex>
std::span<const DeviceKernel> dense_update_kernels() {
  static const std::vector<DeviceKernel> rows = rows_of(kUpdateAfter[kIndex].kernel);
  return rows;
}
template std::span<const DeviceKernel> dense_update_kernels<0>();
template std::span<const DeviceKernel> dense_update_kernels<1>();
template std::span<const DeviceKernel> dense_update_kernels<2>();
template std::span<const DeviceKernel> dense_update_kernels<3>();
template std::span<const DeviceKernel> dense_update_kernels<4>();
template std::span<const DeviceKernel> dense_update_kernels<5>();
template std::span<const DeviceKernel> dense_update_kernels<6>();
template std::span<const DeviceKernel> dense_update_kernels<7>();
template std::span<const DeviceKernel> dense_update_kernels<8>();

}  // namespace sptile::runtime::cuda
