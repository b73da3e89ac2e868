#include <algorithm>
#include <type_traits>
#include <vector>

#include "formats/layout/csr.hpp"
#include "runtime/cuda/device/whole_pieces.hpp"
#include "runtime/cuda/families/csr/csr.hpp"
#include "runtime/cuda/families/csr/direct.cuh"

namespace sptile::runtime::cuda {
namespace {

template <class Arguments>
Arguments direct_arguments(const Launch& launch, const DirectHeader& header) {
  const formats::CsrView csr = formats::as_csr(launch.format);
  const Operand &b = launch.operands.dense[kSpmmB], &c = launch.operands.dense[kSpmmC];
  Arguments a;
  a.row_ptr = csr.row_ptr.data();
  a.columns = csr.col_idx.data();
  a.values = static_cast<const typename Arguments::Value*>(csr.values.data);
  a.rows = header.rows_at < 0 ? nullptr : launch.part<std::int32_t>(header.rows_at);
  a.row_order = launch.row_order;
  a.pieces = launch.part<CsrPiece>(header.pieces_at);
  a.splits = launch.part<CsrSplit>(header.splits_at);
  a.arrived = reinterpret_cast<unsigned*>(launch.workspace + header.scratch.counters_at);
  a.partials = reinterpret_cast<typename Arguments::Acc*>(launch.workspace + header.scratch.partials_at);
  a.b = static_cast<const typename Arguments::Dense*>(b.data);
  a.c = static_cast<typename Arguments::Dense*>(c.data);
  a.ldb = b.ld;
  a.b_bytes = static_cast<std::uint32_t>(b.ld * static_cast<std::int64_t>(sizeof(typename Arguments::Dense)));
  a.ldc = c.ld;
  a.n = launch.n;
  a.alpha = static_cast<typename Arguments::Acc>(launch.operands.alpha);
  a.beta = static_cast<typename Arguments::Acc>(launch.operands.beta);
  a.piece_count = static_cast<int>(header.pieces);
  a.class_count = header.class_count;
  a.slices = static_cast<int>(header.shape.slices(launch.n));
  std::copy(header.classes.begin(), header.classes.end(), a.classes);
  return a;
}

template <class Arguments, int kLanes, int kWidth, int kRepeats, int kAtOnce, bool kAligned>
int start(const Launch& launch, const DirectHeader& header, void* stream) {
  const auto arguments = direct_arguments<Arguments>(launch, header);
  const std::int64_t blocks = header.pieces + header.row_blocks;
  if (blocks == 0) return cudaSuccess;
  return start_kernel<csr_direct<Arguments, kLanes, kWidth, kRepeats, kAtOnce, kAligned>>(
      {.blocks = sliced_grid(blocks, arguments.slices, 1), .threads = kDirectThreads}, *launch.device,
      static_cast<cudaStream_t>(stream), arguments);
}

template <int kLanes, int kRepeats>
struct Team {};

/// Only teams of full vectors, or of single lanes with elements of at least 4 bytes, have variants with more
/// rows of B in flight; other variants do not justify their code size.
template <class Arguments, int kLanes, int kWidth, int kRepeats, bool kAligned>
int start_some(const Launch& launch, const DirectHeader& header, void* stream) {
  constexpr bool kNarrow = kRepeats == 1 && (kLanes == 1 || (kLanes == 2 && kWidth > 1));
  if constexpr (kNarrow && (kAligned || kWidth == 1) && sizeof(typename Arguments::Dense) >= 4)
    if (header.at_once == kDirectMany)
      return start<Arguments, kLanes, kWidth, kRepeats, kDirectMany, kAligned>(launch, header, stream);
  return start<Arguments, kLanes, kWidth, kRepeats, kDirectFew, kAligned>(launch, header, stream);
}

/// Starts the kernel of the shape, which must be one of the teams; returns an error otherwise.
template <class Arguments, int kWidth, bool kAligned, int... kLanes, int... kRepeats>
int start_team(const Launch& launch, const DirectHeader& header, void* stream, Team<kLanes, kRepeats>...) {
  int code = cudaErrorInvalidValue;
  const DirectShape& shape = header.shape;
  (void)((shape.lanes == kLanes && shape.repeats == kRepeats
              ? (code = start_some<Arguments, kLanes, kWidth, kRepeats, kAligned>(launch, header, stream),
                 true)
              : false) ||
         ...);
  return code;
}

template <class Value, class Dense>
int launch_direct(const Launch& launch, void* stream) noexcept {
  using Arguments = DirectArguments<Value, Dense>;
  const auto& header = launch.header->as<DirectHeader>();
  if (header.shape.width == 1)
    return start_team<Arguments, 1, false>(launch, header, stream, Team<1, 1>(), Team<2, 1>(), Team<4, 1>(),
                                           Team<8, 1>(), Team<8, 2>(), Team<16, 2>());
  const bool aligned = whole_pieces(launch.operands.dense[kSpmmB], launch.n, sizeof(Dense)) &&
                       whole_pieces(launch.operands.dense[kSpmmC], launch.n, sizeof(Dense)) &&
                       short_stride(launch.operands.dense[kSpmmB], sizeof(Dense));
  constexpr int kWidth = 16 / static_cast<int>(sizeof(Dense));
  const auto with = [&]<bool kAligned>(std::bool_constant<kAligned>) {
    return start_team<Arguments, kWidth, kAligned>(launch, header, stream, Team<1, 1>(), Team<2, 1>(),
                                                   Team<4, 1>(), Team<2, 2>(), Team<4, 2>(), Team<8, 2>(),
                                                   Team<16, 2>());
  };
  return aligned ? with(std::true_type()) : with(std::false_type());
}

template <DType kDense>
DirectRequest request_of(std::int64_t n) {
  const DirectShape shape = direct_shape(n, csr_vector(kDense));
  return {shape, shape.slices(n), kDense == DType::f64 ? 8 : 4};
}

template <DType kDense>
Schedule schedule(const ScheduleRequest& request) {
  return direct_schedule(formats::as_csr(request.format).row_ptr, request_of<kDense>(request.n),
                         request.device);
}

template <DType kDense>
Result<Schedule> restore(const ScheduleRequest& request, const StoredSchedule& stored) {
  return read_direct(stored, formats::as_csr(request.format).row_ptr, request_of<kDense>(request.n),
                     request.device);
}

template <DType kDense>
constexpr ScheduleStore kStore = {kDirectVersion, direct_numbers, restore<kDense>};

std::int64_t same_n(const ScheduleHeader& /*header*/, std::int64_t n) { return n; }

/// Creates an instance. A pattern runs as a matrix of its dense type without values.
template <class Dense, DType kDense>
constexpr DeviceKernel instance(DType values, Precision precision) {
  return {.kernel = kCsrDirect,
          .values = values,
          .dense = kDense,
          .precision = precision,
          .capability = 80,
          .ieee = true,
          .schedule = schedule<kDense>,
          .launch = launch_direct<Dense, Dense>,
          .least_n = same_n,
          .result = kDense,
          .store = &kStore<kDense>,
          .check = check_one_head,
          .policy = policy_values_for<direct_policy_for, kDense>};
}

constexpr DeviceKernel kInstances[] = {
    instance<float, DType::f32>(DType::f32, Precision::fp32),
    instance<float, DType::f32>(DType::none, Precision::fp32),
    instance<double, DType::f64>(DType::f64, Precision::fp64),
    instance<double, DType::f64>(DType::none, Precision::fp64),
    instance<__half, DType::f16>(DType::f16, Precision::fp16),
    instance<__half, DType::f16>(DType::none, Precision::fp16),
    instance<__nv_bfloat16, DType::bf16>(DType::bf16, Precision::bf16),
    instance<__nv_bfloat16, DType::bf16>(DType::none, Precision::bf16),
};

}  // namespace

std::span<const DeviceKernel> direct_kernels() { return kInstances; }

}  // namespace sptile::runtime::cuda
