#include "runtime/cuda/families/update/fused.cuh"

#include <algorithm>
#include <type_traits>

#include "formats/layout/csr.hpp"
#include "runtime/cuda/families/update/operands.cuh"
#include "runtime/cuda/families/update/update.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Types of an instance.
template <class DenseT, class MathT, DType kResultType, Precision kPrecisionOf>
struct Fused {
  using Dense = DenseT;
  using Math = MathT;
  using Task = FusedTask<Dense, Math>;
  static constexpr DType kDense = kDTypeOf<Dense>;
  static constexpr DType kResult = kResultType;
  static constexpr Precision kPrecision = kPrecisionOf;
  static constexpr UpdateMemory kMemory = update_memory(kDense, kPrecision);
  static constexpr int kVector = csr_vector(kDense);
  static_assert(sizeof(typename Math::Weights) ==
                (Math::kStep == 8 ? 2 : 1) * static_cast<std::size_t>(kMemory.weight_bytes));
};

template <class F>
typename F::Task task_of(const Launch& launch, const CsrGeometry& geometry) {
  const UpdateHeader& header = launch.header->as<UpdateHeader>();
  const formats::CsrView csr = formats::as_csr(launch.format);
  const Operand &b = launch.operands.dense[kUpdateB], &z = launch.operands.dense[kUpdateZ];
  auto* const counters = reinterpret_cast<unsigned*>(launch.workspace + header.scratch.counters_at);
  typename F::Task task;
  task.row_ptr = csr.row_ptr.data();
  task.columns = csr.col_idx.data();
  task.values = csr.values.data;
  task.value_type = csr.is_pattern() ? DType::none : csr.values.dtype;
  task.row_order = launch.row_order;
  task.windows = launch.part<UpdateWindow>(header.windows_at);
  task.pieces = launch.part<CsrPiece>(header.pieces_at);
  task.splits = launch.part<CsrSplit>(header.splits_at);
  task.taken = counters;
  task.done = counters + 1;
  task.arrived = counters + 2;
  task.partials = reinterpret_cast<typename F::Math::Sum*>(launch.workspace + header.scratch.partials_at);
  task.piece_count = static_cast<int>(header.pieces);
  task.item_count = static_cast<int>(header.items());
  task.slices = static_cast<int>(geometry.slices);
  task.b = static_cast<const typename F::Dense*>(b.data);
  task.z = static_cast<typename F::Dense*>(z.data);
  task.ldb = b.ld;
  task.ldz = z.ld;
  task.n = launch.n;
  task.weights = weights_of(launch);
  task.result = result_of(launch, {F::kDense, F::kResult});
  task.steps = static_cast<int>((launch.n + 7) / 8 * 8 / F::Math::kStep);
  task.groups = static_cast<int>((launch.sizes.m + kColumnGroup - 1) / kColumnGroup);
  task.stride = static_cast<int>(window_stride(launch.n));
  return task;
}

template <class F, int kLanes, bool kAligned>
int start(const typename F::Task& task, const Launch& launch, void* stream) {
  const UpdateShape shape = update_shape(launch.n, launch.sizes.m, F::kMemory, *launch.device);
  if (task.item_count == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>(
      std::min<std::int64_t>(task.item_count, std::int64_t{shape.blocks} * launch.device->sm_count));
  return start_kernel<
      fused_update<typename F::Task, kLanes, kAligned, 16 * FusedUpdatePolicy{}.resident_warps>>(
      {.blocks = dim3(std::max(blocks, 1u)),
       .threads = static_cast<unsigned>(32 * shape.warps),
       .shared_bytes = static_cast<std::size_t>(shape.shared_bytes),
       .resident = shape.blocks},
      *launch.device, static_cast<cudaStream_t>(stream), task);
}

template <class F>
int launch_fused(const Launch& launch, void* stream) noexcept {
  const CsrGeometry geometry = csr_geometry(launch.n, F::kVector);
  const typename F::Task task = task_of<F>(launch, geometry);
  const Operand& z = launch.operands.dense[kUpdateZ];
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(typename F::Dense));
  const bool aligned = whole_pieces(launch.operands.dense[kUpdateB], launch.n, kBytes) &&
                       (z.data == nullptr || whole_pieces(z, launch.n, kBytes));
  // Rare cases have one shape.
  if (!aligned || sizeof(typename F::Dense) == 8) {
    typename F::Task wide = task;
    constexpr int kSlice = 32 * F::kVector;
    wide.slices = static_cast<int>((launch.n + kSlice - 1) / kSlice);
    return aligned ? start<F, 32, true>(wide, launch, stream) : start<F, 32, false>(wide, launch, stream);
  }
  if constexpr (sizeof(typename F::Dense) < 8) {
    if (geometry.lanes == 8) return start<F, 8, true>(task, launch, stream);
    if (geometry.lanes == 16) return start<F, 16, true>(task, launch, stream);
  }
  return start<F, 32, true>(task, launch, stream);
}

template <class F>
Schedule schedule(const ScheduleRequest& request) {
  Schedule schedule;
  schedule.header.set(
      append_update(schedule, formats::as_csr(request.format).row_ptr, F::kDense, request.n, request.device));
  return schedule;
}

template <class F>
Status check(const ServiceRequest& request) {
  return check_update(request.n, planned_m(request.n, request.variant), F::kMemory, request.device);
}

template <class F>
constexpr DeviceKernel row() {
  return {.kernel = kFusedUpdate,
          .values = DType::none,
          .dense = F::kDense,
          .precision = F::kPrecision,
          .capability = 80,
          .ieee = true,
          .schedule = schedule<F>,
          .launch = launch_fused<F>,
          .any_values = true,
          .result = F::kResult,
          .check = check<F>,
          .policy = policy_values_for<fused_update_policy_for>};
}

constexpr DeviceKernel kFusedInstances[] = {
    row<Fused<float, UpdateF32<false>, DType::f32, Precision::tf32>>(),
    row<Fused<float, UpdateF32<true>, DType::f32, Precision::fp32>>(),
    row<Fused<double, UpdateF64, DType::f64, Precision::fp64>>(),
    row<Fused<__half, UpdateF32<false>, DType::f16, Precision::fp16>>(),
    row<Fused<__half, UpdateF32<false>, DType::f32, Precision::fp16>>(),
    row<Fused<__nv_bfloat16, UpdateF32<false>, DType::bf16, Precision::bf16>>(),
    row<Fused<__nv_bfloat16, UpdateF32<false>, DType::f32, Precision::bf16>>(),
};

}  // namespace

std::span<const DeviceKernel> fused_update_kernels() { return kFusedInstances; }

}  // namespace sptile::runtime::cuda
