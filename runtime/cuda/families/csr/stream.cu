#include "formats/layout/csr.hpp"
#include "runtime/cuda/families/csr/stream.cuh"

namespace sptile::runtime::cuda {
namespace {

/// Kernels are compiled once for all devices.
template <class T>
constexpr StreamPolicy kPolicy = stream_policy_for(80, kDTypeOf<T>);

template <class T>
using Tuning =
    StreamTuning<kStreamShape.threads, kStreamShape.per_thread, kPolicy<T>.in_flight, kPolicy<T>.blocks>;

template <class T>
StreamArguments<T> stream_arguments(const Launch& launch, const StreamHeader& header) {
  const formats::CsrView csr = formats::as_csr(launch.format);
  const Operand &b = launch.operands.dense[kSpmmB], &c = launch.operands.dense[kSpmmC];
  StreamArguments<T> a;
  a.columns = csr.col_idx.data();
  a.values = static_cast<const T*>(csr.values.data);
  a.row_order = launch.row_order;
  a.ends = launch.part<std::uint16_t>(header.ends_at);
  a.blocks = launch.part<StreamBlock>(header.blocks_at);
  a.pieces = launch.part<CsrPiece>(header.pieces_at);
  a.splits = launch.part<CsrSplit>(header.splits_at);
  a.arrived = reinterpret_cast<unsigned*>(launch.workspace + header.scratch.counters_at);
  a.partials = reinterpret_cast<T*>(launch.workspace + header.scratch.partials_at);
  a.b = static_cast<const T*>(b.data);
  a.c = static_cast<T*>(c.data);
  a.ldb = b.ld;
  a.ldc = c.ld;
  a.alpha = static_cast<T>(launch.operands.alpha);
  a.beta = static_cast<T>(launch.operands.beta);
  a.piece_count = static_cast<int>(header.pieces);
  return a;
}

template <class T>
int launch_stream(const Launch& launch, void* stream) noexcept {
  const auto& header = launch.header->as<StreamHeader>();
  const std::int64_t blocks = header.pieces + header.blocks;
  if (blocks == 0) return cudaSuccess;
  return start_kernel<csr_stream<StreamArguments<T>, Tuning<T>>>(
      {.blocks = dim3(static_cast<unsigned>(blocks)), .threads = Tuning<T>::kThreads}, *launch.device,
      static_cast<cudaStream_t>(stream), stream_arguments<T>(launch, header));
}

template <class T>
Schedule schedule(const ScheduleRequest& request) {
  return stream_schedule(formats::as_csr(request.format).row_ptr, sizeof(T));
}

std::vector<std::int64_t> numbers(const ScheduleHeader& /*header*/) { return {}; }

template <class T>
Result<Schedule> restore(const ScheduleRequest& request, const StoredSchedule& stored) {
  return read_stream(stored, formats::as_csr(request.format).row_ptr, sizeof(T));
}

template <class T>
constexpr ScheduleStore kStore = {kStreamVersion, numbers, restore<T>};

/// Creates an instance. A pattern runs as a matrix of its dense type without values.
template <class T, DType kDense>
constexpr DeviceKernel instance(DType values, Precision precision) {
  return {.kernel = kCsrStream,
          .values = values,
          .dense = kDense,
          .precision = precision,
          .capability = 80,
          .ieee = true,
          .schedule = schedule<T>,
          .launch = launch_stream<T>,
          .result = kDense,
          .store = &kStore<T>,
          .check = check_one_column,
          .policy = policy_values_for<stream_policy_for, kDense>};
}

constexpr DeviceKernel kInstances[] = {
    instance<float, DType::f32>(DType::f32, Precision::fp32),
    instance<float, DType::f32>(DType::none, Precision::fp32),
    instance<double, DType::f64>(DType::f64, Precision::fp64),
    instance<double, DType::f64>(DType::none, Precision::fp64),
};

}  // namespace

std::span<const DeviceKernel> stream_kernels() { return kInstances; }

}  // namespace sptile::runtime::cuda
