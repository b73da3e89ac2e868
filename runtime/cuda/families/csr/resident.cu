#include <vector>

#include "formats/layout/csr.hpp"
#include "runtime/cuda/device/whole_pieces.hpp"
#include "runtime/cuda/families/csr/resident.cuh"

namespace sptile::runtime::cuda {
namespace {

template <class T>
ResidentArguments<T> resident_arguments(const Launch& launch, const ResidentHeader& header) {
  const formats::CsrView csr = formats::as_csr(launch.format);
  const Operand &b = launch.operands.dense[kSpmmB], &c = launch.operands.dense[kSpmmC];
  ResidentArguments<T> a;
  a.row_ptr = csr.row_ptr.data();
  a.columns = csr.col_idx.data();
  a.values = static_cast<const T*>(csr.values.data);
  a.row_order = launch.row_order;
  a.starts = launch.part<ResidentStart>(header.starts_at);
  a.b = static_cast<const T*>(b.data);
  a.c = static_cast<T*>(c.data);
  a.ldb = b.ld;
  a.ldc = c.ld;
  a.n = launch.n;
  a.alpha = static_cast<typename ResidentArguments<T>::Acc>(launch.operands.alpha);
  a.beta = static_cast<typename ResidentArguments<T>::Acc>(launch.operands.beta);
  a.rows_of_b = static_cast<int>(csr.cols);
  return a;
}

template <class T, DType kType, int kLines, bool kAligned>
int start(const Launch& launch, void* stream) {
  const auto& header = launch.header->as<ResidentHeader>();
  ResidentArguments<T> arguments = resident_arguments<T>(launch, header);
  const std::int64_t columns = resident_columns(kLines, kType);
  arguments.slices = static_cast<int>((launch.n + columns - 1) / columns);
  const std::int64_t shared = resident_bytes(arguments.rows_of_b, kLines, kType);
  return start_kernel<csr_resident<ResidentArguments<T>, kLines, kAligned>>(
      {.blocks = sliced_grid(header.parts, arguments.slices, 1),
       .threads = kResidentWarps * 32,
       .shared_bytes = static_cast<std::size_t>(shared),
       .resident = 1},
      *launch.device, static_cast<cudaStream_t>(stream), arguments);
}

template <class T, DType kType>
int launch_resident(const Launch& launch, void* stream) noexcept {
  const bool aligned = whole_pieces(launch.operands.dense[kSpmmB], launch.n, sizeof(T)) &&
                       whole_pieces(launch.operands.dense[kSpmmC], launch.n, sizeof(T));
  if (launch.header->as<ResidentHeader>().lines == 1)
    return aligned ? start<T, kType, 1, true>(launch, stream) : start<T, kType, 1, false>(launch, stream);
  return aligned ? start<T, kType, 2, true>(launch, stream) : start<T, kType, 2, false>(launch, stream);
}

template <DType kType>
Schedule schedule(const ScheduleRequest& request) {
  return resident_schedule(request, kType);
}

template <DType kType>
Status check(const ServiceRequest& request) {
  return check_resident(request, kType);
}

template <DType kType>
std::int64_t least_n(const ScheduleHeader& header, std::int64_t n) {
  return resident_least_n(header.as<ResidentHeader>(), n, kType);
}

std::vector<std::int64_t> numbers(const ScheduleHeader& /*header*/) { return {}; }

template <DType kType>
Result<Schedule> restore(const ScheduleRequest& request, const StoredSchedule& stored) {
  return read_resident(request, stored, kType);
}

template <DType kType>
constexpr ScheduleStore kStore = {kResidentVersion, numbers, restore<kType>};

/// Creates an instance. A pattern runs as a matrix of its dense type without values.
template <class T, DType kType>
constexpr DeviceKernel instance(DType values, Precision precision) {
  return {.kernel = kCsrResident,
          .values = values,
          .dense = kType,
          .precision = precision,
          .capability = 80,
          .ieee = true,
          .schedule = schedule<kType>,
          .launch = launch_resident<T, kType>,
          .least_n = least_n<kType>,
          .result = kType,
          .store = &kStore<kType>,
          .check = check<kType>,
          .policy = policy_values_for<resident_policy_for>};
}

constexpr DeviceKernel kInstances[] = {
    instance<float, DType::f32>(DType::f32, Precision::fp32),
    instance<float, DType::f32>(DType::none, Precision::fp32),
    instance<__half, DType::f16>(DType::f16, Precision::fp16),
    instance<__half, DType::f16>(DType::none, Precision::fp16),
    instance<__nv_bfloat16, DType::bf16>(DType::bf16, Precision::bf16),
    instance<__nv_bfloat16, DType::bf16>(DType::none, Precision::bf16),
};

}  // namespace

std::span<const DeviceKernel> resident_kernels() { return kInstances; }

}  // namespace sptile::runtime::cuda
