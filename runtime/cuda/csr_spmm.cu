#include "runtime/cuda/csr_spmm.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "formats/layout/csr.hpp"
#include "runtime/cuda/csr_spmm.cuh"
#include "runtime/cuda/whole_pieces.hpp"

namespace sptile::runtime::cuda {
namespace {

/// 16-bit rows of B take more registers: each lane sums 8 columns in f32.
template <class Dense>
using Tuning = CsrTuning<128, 4, sizeof(Dense) == 2 ? 6 : 9>;

constexpr std::int64_t kMostSlicesInY = 65535;

template <class Value, class Dense>
CsrArguments<Value, Dense> arguments_of(const CsrArrays& arrays, const Launch& launch,
                                        const CsrGeometry& geometry) {
  using Acc = typename Accumulator<Dense>::Type;
  const auto& numbers = launch.host->numbers;
  CsrArguments<Value, Dense> a;
  a.row_ptr = arrays.row_ptr;
  a.columns = arrays.columns;
  a.values = static_cast<const Value*>(arrays.values);
  a.row_ids = arrays.row_ids;
  a.row_order = launch.row_order;
  a.runs = reinterpret_cast<const CsrRun*>(launch.schedule + numbers[kRunsOffset]);
  a.pieces = reinterpret_cast<const CsrPiece*>(launch.schedule + numbers[kPiecesOffset]);
  a.splits = reinterpret_cast<const CsrSplit*>(launch.schedule + numbers[kSplitsOffset]);
  a.arrived = reinterpret_cast<unsigned*>(launch.workspace);
  a.partials = reinterpret_cast<Acc*>(launch.workspace + numbers[kPartialsOffset]);
  a.piece_count = static_cast<int>(numbers[kPieces]);
  a.item_count = static_cast<int>(numbers[kPieces] + numbers[kRuns]);
  a.slices = static_cast<int>(geometry.slices);
  a.b = static_cast<const Dense*>(launch.b);
  a.c = static_cast<Dense*>(launch.c);
  a.ldb = launch.ldb;
  a.ldc = launch.ldc;
  a.n = launch.n;
  a.alpha = static_cast<Acc>(launch.alpha);
  a.beta = static_cast<Acc>(launch.beta);
  return a;
}

/// True when every row of both operands can be read 16 bytes at a time.
template <class Dense>
bool is_aligned(const Launch& launch) {
  return whole_pieces(launch.b, launch.ldb, launch.n, sizeof(Dense)) &&
         whole_pieces(launch.c, launch.ldc, launch.n, sizeof(Dense));
}

template <class Value, class Dense, int kLanes, bool kAligned>
int launch_kernel(const CsrArrays& arrays, const Launch& launch, const CsrGeometry& geometry, void* stream) {
  const CsrArguments<Value, Dense> arguments = arguments_of<Value, Dense>(arrays, launch, geometry);
  if (arguments.item_count == 0) return cudaSuccess;
  constexpr int kThreads = Tuning<Dense>::kThreads;
  constexpr std::int64_t kGroups = kThreads / kLanes;
  const std::int64_t y = std::min(geometry.slices, kMostSlicesInY);
  const dim3 grid(static_cast<unsigned>((arguments.item_count + kGroups - 1) / kGroups),
                  static_cast<unsigned>(y), static_cast<unsigned>((geometry.slices + y - 1) / y));
  return start_kernel<csr_spmm<Value, Dense, kLanes, kAligned, Tuning<Dense>>>(
      {.blocks = grid, .threads = kThreads}, *launch.device, static_cast<cudaStream_t>(stream), arguments);
}

template <class Value, class Dense, int kLanes>
int launch_lanes(const CsrArrays& arrays, const Launch& launch, const CsrGeometry& geometry, void* stream) {
  return is_aligned<Dense>(launch)
             ? launch_kernel<Value, Dense, kLanes, true>(arrays, launch, geometry, stream)
             : launch_kernel<Value, Dense, kLanes, false>(arrays, launch, geometry, stream);
}

template <class Value, class Dense>
int launch_arrays(const CsrArrays& arrays, const Launch& launch, void* stream) {
  const CsrGeometry geometry{static_cast<int>(launch.host->numbers[kGridLanes]),
                             launch.host->numbers[kGridSlices]};
  if (geometry.lanes == 8) return launch_lanes<Value, Dense, 8>(arrays, launch, geometry, stream);
  if (geometry.lanes == 16) return launch_lanes<Value, Dense, 16>(arrays, launch, geometry, stream);
  return launch_lanes<Value, Dense, 32>(arrays, launch, geometry, stream);
}

template <class Value, class Dense>
int launch_csr(const Launch& launch, void* stream) noexcept {
  const formats::CsrView csr = formats::as_csr(launch.format);
  return launch_arrays<Value, Dense>({csr.row_ptr.data(), csr.col_idx.data(), csr.values.data}, launch,
                                     stream);
}

template <DType kDense>
Schedule schedule(const formats::FormatView& host, std::span<const std::int32_t>, std::int64_t n,
                  const DeviceInfo& device) {
  return csr_schedule({formats::as_csr(host).row_ptr}, kDense, n, device);
}

template <class Dense>
constexpr DType kTypeOf = std::is_same_v<Dense, float>    ? DType::f32
                          : std::is_same_v<Dense, double> ? DType::f64
                          : std::is_same_v<Dense, __half> ? DType::f16
                                                          : DType::bf16;

struct Instance {
  DeviceKernel row;
  int (*launch)(const CsrArrays&, const Launch&, void* stream);
};

/// A pattern runs as a matrix of its dense type without values.
template <class Value, class Dense>
constexpr Instance instance(DType values, Precision precision) {
  constexpr DType kDense = kTypeOf<Dense>;
  return {{"cuda.csr.rows", values, kDense, precision, 80, true, schedule<kDense>, launch_csr<Value, Dense>},
          launch_arrays<Value, Dense>};
}

constexpr Instance kInstances[] = {
    instance<float, float>(DType::f32, Precision::fp32),
    instance<float, float>(DType::none, Precision::fp32),
    instance<double, double>(DType::f64, Precision::fp64),
    instance<double, double>(DType::none, Precision::fp64),
    instance<__half, float>(DType::f16, Precision::fp32),
    instance<__half, __half>(DType::f16, Precision::fp16),
    instance<__half, __half>(DType::none, Precision::fp16),
    instance<__nv_bfloat16, float>(DType::bf16, Precision::fp32),
    instance<__nv_bfloat16, __nv_bfloat16>(DType::bf16, Precision::bf16),
    instance<__nv_bfloat16, __nv_bfloat16>(DType::none, Precision::bf16),
};

std::vector<DeviceKernel> rows_of_table() {
  std::vector<DeviceKernel> rows;
  for (const Instance& instance : kInstances) rows.push_back(instance.row);
  return rows;
}

}  // namespace

std::span<const DeviceKernel> csr_kernels() {
  static const std::vector<DeviceKernel> rows = rows_of_table();
  return rows;
}

int launch_rows(DType values, DType dense, const CsrArrays& arrays, const Launch& launch,
                void* stream) noexcept {
  for (const Instance& instance : kInstances)
    if (instance.row.values == values && instance.row.dense == dense)
      return instance.launch(arrays, launch, stream);
  return cudaErrorInvalidValue;
}

}  // namespace sptile::runtime::cuda
