#include "runtime/cuda/families/csr/csr.hpp"

#include <type_traits>
#include <vector>

#include "formats/layout/csr.hpp"
#include "runtime/cuda/collective/csr_launch.cuh"
#include "runtime/cuda/families/csr/policy.hpp"

namespace sptile::runtime::cuda {
namespace {

/// Kernels are compiled once for all devices.
template <class Dense>
constexpr CsrPolicy kPolicy = csr_policy_for(80, kDTypeOf<Dense>);

template <class Dense, class Heads>
using Tuning =
    CsrTuning<kPolicy<Dense>.threads, kPolicy<Dense>.rows_in_flight,
              std::is_same_v<Heads, CsrHead> ? kPolicy<Dense>.blocks : kPolicy<Dense>.batched_blocks>;

/// Two vectors per lane, for rows of B that are multiples of the slice: the same bytes in flight with half of
/// the instructions. For other rows, the masked loads cost more than that.
template <class Dense>
using WideTuning =
    CsrTuning<kPolicy<Dense>.threads, kPolicy<Dense>.rows_in_flight, kPolicy<Dense>.wide_blocks, 2>;

template <class Value, class Dense, class Result, class Heads>
int launch_heads(const CsrArrays& arrays, const CsrHeader& header, const Launch& launch, void* stream) {
  using Arguments = CsrArguments<Value, Dense, CsrStore, Result, Heads>;
  Arguments arguments = arguments_of<Arguments>(arrays, header, launch);
  if constexpr (kPolicy<Dense>.wide_blocks > 0 && std::is_same_v<Heads, CsrHead>) {
    constexpr std::int64_t kColumns = kPolicy<Dense>.wide_row_bytes / sizeof(Dense);
    if (launch.n % kColumns == 0 && is_aligned<Dense, Result>(launch)) {
      arguments.slices = static_cast<int>(launch.n / kColumns);
      return launch_kernel<WideTuning<Dense>, 32, true>(arguments, launch, stream);
    }
  }
  return launch_arguments<Tuning<Dense, Heads>>(arguments, launch, stream);
}

template <class Value, class Dense, class Result>
int launch_arrays(const CsrArrays& arrays, const CsrHeader& header, const Launch& launch, void* stream) {
  const auto start = launch.sizes.heads == 1 ? launch_heads<Value, Dense, Result, CsrHead>
                                             : launch_heads<Value, Dense, Result, CsrHeads>;
  return start(arrays, header, launch, stream);
}

template <class Value, class Dense, class Result>
int launch_csr(const Launch& launch, void* stream) noexcept {
  const formats::CsrView csr = formats::as_csr(launch.format);
  return launch_arrays<Value, Dense, Result>({csr.row_ptr.data(), csr.col_idx.data(), csr.values.data},
                                             launch.header->as<CsrHeader>(), launch, stream);
}

template <DType kDense>
Schedule schedule(const ScheduleRequest& request) {
  Schedule schedule;
  schedule.header.set(append_csr(schedule, {formats::as_csr(request.format).row_ptr}, kDense, request.n,
                                 request.device, request.variant.heads));
  return schedule;
}

template <DType kDense>
std::int64_t least_n(const ScheduleHeader& /*header*/, std::int64_t n) {
  return csr_least_n(n, csr_vector(kDense));
}

std::vector<std::int64_t> numbers(const ScheduleHeader& header) {
  return csr_numbers(header.as<CsrHeader>());
}

template <DType kDense>
Result<Schedule> restore(const ScheduleRequest& request, const StoredSchedule& stored) {
  return restore_schedule(stored, [&](ScheduleReader& reader, Schedule& schedule) {
    return read_csr(reader, schedule, {formats::as_csr(request.format).row_ptr}, kDense, request.n,
                    request.variant.heads);
  });
}

template <DType kDense>
constexpr ScheduleStore kStore = {kCsrVersion, numbers, restore<kDense>};

struct Instance {
  DeviceKernel row;
  int (*launch)(const CsrArrays&, const CsrHeader&, const Launch&, void* stream);
};

/// Creates an instance. A pattern runs as a matrix of its dense type without values.
template <class Value, class Dense, class Result = Dense>
constexpr Instance instance(DType values, Precision precision) {
  constexpr DType kDense = kDTypeOf<Dense>;
  return {{.kernel = kCsrRows,
           .values = values,
           .dense = kDense,
           .precision = precision,
           .capability = 80,
           .ieee = true,
           .schedule = schedule<kDense>,
           .launch = launch_csr<Value, Dense, Result>,
           .least_n = least_n<kDense>,
           .result = kDTypeOf<Result>,
           .store = &kStore<kDense>,
           .batched = true,
           .policy = policy_values_for<csr_policy_for, kDense>},
          launch_arrays<Value, Dense, Result>};
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
    instance<__half, __half, float>(DType::f16, Precision::fp16),
    instance<__half, __half, float>(DType::none, Precision::fp16),
    instance<__nv_bfloat16, __nv_bfloat16, float>(DType::bf16, Precision::bf16),
    instance<__nv_bfloat16, __nv_bfloat16, float>(DType::none, Precision::bf16),
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

int launch_rows(DType values, const DenseTypes& dense, const CsrArrays& arrays, const CsrHeader& header,
                const Launch& launch, void* stream) noexcept {
  for (const Instance& instance : kInstances)
    if (instance.row.values == values && types_of(instance.row) == dense)
      return instance.launch(arrays, header, launch, stream);
  return cudaErrorInvalidValue;
}

}  // namespace sptile::runtime::cuda
