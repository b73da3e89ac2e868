// SpMM of hc_window with HyGNN's kernel (sections 4.1, 6.2 and 6.3): one block per window, on the cores
// assigned to the window. Its memory optimizations can be disabled one by one.
#include "runtime/cuda/papers/hygnn/hygnn.hpp"

#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/papers/hygnn/launch.cuh"
#include "runtime/cuda/papers/hygnn/window.cuh"

namespace sptile::runtime::cuda {
namespace {

constexpr int kHygnnBlocks = 4;  ///< per multiprocessor, which limits registers to 64

template <class V, bool kConflictFree, bool kSharedEdges>
__global__ void __launch_bounds__(kHygnnMaxWarps* kWarpSize, kHygnnBlocks)
    hygnn_product(const __grid_constant__ HygnnTask task) {
  __shared__ HygnnShared shared;
  follow_previous_kernel();
  hygnn_window<V, kConflictFree, kSharedEdges>(task.operands, shared, HygnnThread::here(),
                                               static_cast<std::int32_t>(blockIdx.x), task);
}

HygnnTask task_of(const Launch& launch, int threads_per_row) {
  const Operand& c = launch.operands.dense[kSpmmC];
  return {.operands = hygnn_operands(launch, launch.header->as<HygnnHeader>(), launch.n, threads_per_row),
          .row_order = launch.row_order,
          .c = static_cast<float*>(c.data),
          .ldc = c.ld,
          .alpha = static_cast<float>(launch.operands.alpha),
          .beta = static_cast<float>(launch.operands.beta)};
}

/// Optimizations of a kernel.
struct HygnnTricks {
  bool conflict_free = true, shared_edges = true, any_threads = true;
};
constexpr HygnnTricks kAll = {};
#ifdef SPTILE_ABLATIONS
constexpr HygnnTricks kPlainLoad = {.conflict_free = false};
constexpr HygnnTricks kGlobalEdges = {.shared_edges = false};
constexpr HygnnTricks kFixed32 = {.any_threads = false};
#endif

template <class V, const HygnnTricks& kTricks>
int launch_hygnn(const Launch& launch, void* stream) noexcept {
  const std::int64_t windows = hygnn_windows(launch);
  if (windows == 0) return cudaSuccess;
  return start_kernel<hygnn_product<V, kTricks.conflict_free, kTricks.shared_edges>>(
      {.blocks = dim3(static_cast<unsigned>(windows)), .threads = hygnn_warps(launch.n) * kWarpSize},
      *launch.device, static_cast<cudaStream_t>(stream),
      task_of(launch, kTricks.any_threads ? hygnn_threads_per_row(launch.n) : kWarpSize));
}

template <const std::string_view& kKernel, const HygnnTricks& kTricks>
std::span<const DeviceKernel> rows() {
  static constexpr DeviceKernel kRows[] = {hygnn_row(kKernel, DType::f32, launch_hygnn<float, kTricks>),
                                           hygnn_row(kKernel, DType::none, launch_hygnn<Ones, kTricks>)};
  return kRows;
}

}  // namespace

std::span<const DeviceKernel> hygnn_kernels() { return rows<kHygnnPaper, kAll>(); }
#ifdef SPTILE_ABLATIONS
std::span<const DeviceKernel> hygnn_plain_load_kernels() { return rows<kHygnnPlainLoad, kPlainLoad>(); }
std::span<const DeviceKernel> hygnn_global_edges_kernels() { return rows<kHygnnGlobalEdges, kGlobalEdges>(); }
std::span<const DeviceKernel> hygnn_fixed_32_kernels() { return rows<kHygnnFixed32, kFixed32>(); }
#endif

}  // namespace sptile::runtime::cuda
