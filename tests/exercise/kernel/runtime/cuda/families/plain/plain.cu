#include "runtime/cuda/families/plain/plain.hpp"

#include "formats/layout/csr.hpp"
#include "runtime/cuda/device/start_kernel.cuh"

namespace sptile::runtime::cuda {
namespace {

constexpr int kThreads = 128, kLanes = 32;

/// Kernel parameter.
struct PlainTask {
  const std::int64_t* row_ptr;
  const std::int32_t* columns;
  const float* values;
  const std::int32_t* row_order;
  std::int64_t rows, n;
  const float* b;
  std::int64_t ldb;
  float* c;
  std::int64_t ldc;
  float alpha, beta;
};

__global__ void __launch_bounds__(kThreads) plain_product(const __grid_constant__ PlainTask task) {
  follow_previous_kernel();
  const std::int64_t row = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
  if (row >= task.rows) return;
  const std::int64_t to = task.row_order == nullptr ? row : task.row_order[row];
  for (std::int64_t j = threadIdx.x % kLanes; j < task.n; j += kLanes) {
    float sum = 0;
    for (std::int64_t k = task.row_ptr[row]; k < task.row_ptr[row + 1]; ++k)
      sum += task.values[k] * task.b[task.columns[k] * task.ldb + j];
    float& c = task.c[to * task.ldc + j];
    c = task.alpha * sum + (task.beta == 0 ? 0 : task.beta * c);
  }
}

/// Nothing is divided.
struct PlainHeader {};

Schedule schedule(const ScheduleRequest&) {
  Schedule schedule;
  schedule.header.set(PlainHeader{});
  return schedule;
}

int launch(const Launch& launch, void* stream) noexcept {
  const formats::CsrView a = formats::as_csr(launch.format);
  const Operand &b = launch.operands.dense[kSpmmB], &c = launch.operands.dense[kSpmmC];
  const PlainTask task{a.row_ptr.data(),
                       a.col_idx.data(),
                       static_cast<const float*>(a.values.data),
                       launch.row_order,
                       a.rows,
                       launch.n,
                       static_cast<const float*>(b.data),
                       b.ld,
                       static_cast<float*>(c.data),
                       c.ld,
                       static_cast<float>(launch.operands.alpha),
                       static_cast<float>(launch.operands.beta)};
  constexpr std::int64_t kRows = kThreads / kLanes;
  return start_kernel<plain_product>(
      {.blocks = dim3(static_cast<unsigned>((a.rows + kRows - 1) / kRows)), .threads = kThreads},
      *launch.device, static_cast<cudaStream_t>(stream), task);
}

constexpr DeviceKernel kRows[] = {
    {kCsrPlain, DType::f32, DType::f32, Precision::fp32, 80, true, schedule, launch}};

}  // namespace

std::span<const DeviceKernel> plain_kernels() { return kRows; }

}  // namespace sptile::runtime::cuda
