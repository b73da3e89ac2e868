// Host code of the kernels that reduce rows of csr: schedules, arguments, instances.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>

#include "formats/layout/csr.hpp"
#include "runtime/cuda/device/slices.cuh"
#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/device/whole_pieces.hpp"
#include "runtime/cuda/families/reduce/reduce.hpp"
#include "runtime/cuda/families/reduce/team.cuh"
#include "runtime/operation/spmm_reduce.hpp"

namespace sptile::runtime::cuda {

/// Returns the arguments of a launch, without operands.
template <class Dense>
ReduceTask<Dense> reduce_task(const Launch& launch, const DirectHeader& header) {
  const formats::CsrView csr = formats::as_csr(launch.format);
  ReduceTask<Dense> task = {};
  task.row_ptr = csr.row_ptr.data();
  task.columns = csr.col_idx.data();
  task.values = static_cast<const Dense*>(csr.values.data);
  task.rows = header.rows_at < 0 ? nullptr : launch.part<std::int32_t>(header.rows_at);
  task.row_order = launch.row_order;
  task.pieces = launch.part<CsrPiece>(header.pieces_at);
  task.splits = launch.part<CsrSplit>(header.splits_at);
  task.arrived = reinterpret_cast<unsigned*>(launch.workspace + header.scratch.counters_at);
  task.partials = launch.workspace + header.scratch.partials_at;
  task.n = launch.n;
  task.alpha = static_cast<typename ReduceTask<Dense>::Acc>(launch.operands.alpha);
  task.piece_count = static_cast<int>(header.pieces);
  task.class_count = header.class_count;
  task.slices = static_cast<int>(header.shape.slices(launch.n));
  task.lanes = header.shape.lanes;
  std::copy(header.classes.begin(), header.classes.end(), task.classes);
  return task;
}

/// Sets rows of the operands.
template <class Dense>
void set_rows(ReduceTask<Dense>& task, const Operand& from, const Operand& arg, const Operand& to) {
  task.from = static_cast<const Dense*>(from.data);
  task.from_ld = from.ld;
  task.arg = static_cast<std::int32_t*>(arg.data);
  task.arg_ld = arg.ld;
  task.to = static_cast<Dense*>(to.data);
  task.to_ld = to.ld;
}

/// Returns whether rows of operands can be accessed in vectors.
template <class Dense>
bool has_aligned_rows(const Operand& from, const Operand& arg, const Operand& to, std::int64_t n) {
  constexpr std::int64_t kSize = sizeof(Dense), kIndex = sizeof(std::int32_t);
  constexpr std::int64_t kPiece = std::min<std::int64_t>(16, kIndex * kReduceVector<Dense>);
  return whole_pieces(from, n, kSize) && short_stride(from, kSize) && whole_pieces(to, n, kSize) &&
         (arg.data == nullptr || (whole_pieces(arg, n, kIndex, kPiece) && short_stride(arg, kIndex)));
}

template <DType kDense>
Schedule schedule_reduction(const ScheduleRequest& request, std::int64_t state_bytes) {
  const DirectShape shape = reduce_shape(request.n, csr_vector(kDense));
  return direct_schedule(formats::as_csr(request.format).row_ptr,
                         {shape, shape.slices(request.n), state_bytes}, request.device);
}

inline std::int64_t reduce_least_n(const ScheduleHeader& /*header*/, std::int64_t n) { return n; }

/// Launch and schedule of a kernel for dense operands of a type.
using ReduceLaunch = int (*)(const Launch&, void*) noexcept;
using ReduceSchedule = Schedule (*)(const ScheduleRequest&);

constexpr DeviceKernel reduce_instance(std::string_view kernel, DType values, DType dense,
                                       Precision precision, ReduceSchedule schedule, ReduceLaunch launch,
                                       PolicyValues (*policy)(int)) {
  return {.kernel = kernel,
          .values = values,
          .dense = dense,
          .precision = precision,
          .capability = 80,
          .ieee = true,
          .schedule = schedule,
          .launch = launch,
          .least_n = reduce_least_n,
          .result = dense,
          .policy = policy};
}

/// Instances of a kernel for every type, with values of this type or none. Of<Dense, kDense> has the schedule
/// and the launch.
template <template <class, DType> class Of>
struct ReduceInstances {
  template <class Dense, DType kDense>
  static constexpr DeviceKernel row(std::string_view kernel, bool with_values, Precision precision) {
    return reduce_instance(kernel, with_values ? kDense : DType::none, kDense, precision,
                           Of<Dense, kDense>::schedule, Of<Dense, kDense>::launch,
                           policy_values_for<direct_policy_for, kDense>);
  }
  static constexpr std::array<DeviceKernel, 8> rows(std::string_view kernel) {
    return {row<float, DType::f32>(kernel, true, Precision::fp32),
            row<float, DType::f32>(kernel, false, Precision::fp32),
            row<double, DType::f64>(kernel, true, Precision::fp64),
            row<double, DType::f64>(kernel, false, Precision::fp64),
            row<__half, DType::f16>(kernel, true, Precision::fp16),
            row<__half, DType::f16>(kernel, false, Precision::fp16),
            row<__nv_bfloat16, DType::bf16>(kernel, true, Precision::bf16),
            row<__nv_bfloat16, DType::bf16>(kernel, false, Precision::bf16)};
  }
};

template <class Rule, int kLanes>
int start_lanes(const Launch& launch, const DirectHeader& header, const typename Rule::Task& task,
                void* stream) {
  return start_kernel<csr_reduce<Rule, kLanes>>(
      {.blocks = sliced_grid(header.pieces + header.row_blocks, task.slices, 1), .threads = kDirectThreads},
      *launch.device, static_cast<cudaStream_t>(stream), task);
}

/// Starts the instance for aligned rows and the lanes of the shape, of those up to kReduceLanes[kIndex].
template <class Rule, int kIndex = static_cast<int>(std::size(kReduceLanes)) - 1>
int start_aligned(const Launch& launch, const DirectHeader& header, const typename Rule::Task& task,
                  void* stream) {
  if constexpr (kIndex == 0) {
    return start_lanes<Rule, 0>(launch, header, task, stream);
  } else {
    if (header.shape.lanes == kReduceLanes[kIndex])
      return start_lanes<Rule, kReduceLanes[kIndex]>(launch, header, task, stream);
    return start_aligned<Rule, kIndex - 1>(launch, header, task, stream);
  }
}

/// Reduces rows of `from`, with `arg`, to rows of `to`.
template <class Rule>
int start_reduction(const Launch& launch, void* stream, int from, int arg, int to, int sign) {
  using Dense = typename Rule::Task::Dense;
  const auto& header = launch.header->as<DirectHeader>();
  if (header.pieces + header.row_blocks == 0) return cudaSuccess;
  const Operand* const operands = launch.operands.dense;
  auto task = reduce_task<Dense>(launch, header);
  set_rows(task, operands[from], operands[arg], operands[to]);
  task.sign = static_cast<typename Rule::Acc>(sign);
  const bool aligned = has_aligned_rows<Dense>(operands[from], operands[arg], operands[to], launch.n);
  return aligned ? start_aligned<Rule>(launch, header, task, stream)
                 : start_lanes<Rule, 0>(launch, header, task, stream);
}

}  // namespace sptile::runtime::cuda
