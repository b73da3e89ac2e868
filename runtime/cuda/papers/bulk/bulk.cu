#include "runtime/cuda/papers/bulk/bulk.hpp"

#include <algorithm>

#include "runtime/cuda/families/tile/tile.hpp"
#include "runtime/cuda/instance_parts.hpp"
#include "runtime/cuda/papers/bulk/launch.cuh"

// bmat on compute capability 9.0 and up, after Voltrix-SpMM (USENIX ATC 2025): persistent blocks with up to
// three kinds of warps (two in the paper). Producers copy each row of B of a tile, in the block's slice, with
// one bulk copy; decoders convert words and values to tensor core operands, once for all consumers (.bulk*;
// in .voltrix*, each consumer does); consumers multiply, each for 128 bytes of the rows. They communicate
// through stages of a few tiles in shared memory, so that 64 KiB and more of B are in flight per
// multiprocessor without using registers. kBulkShapes has the number of warps and stages.

namespace sptile::runtime::cuda {
namespace {

/// Returns the equivalent row of cuda.bmat.mma, for operands whose rows do not consist of full 16-byte units,
/// and for devices with little shared memory.
const DeviceKernel& skeleton(DType values, DType dense, Precision precision) {
  const std::span<const DeviceKernel> rows = instances<kBmatMma>();
  return *std::find_if(rows.begin(), rows.end(), [=](const DeviceKernel& row) {
    return row.values == values && row.dense == dense && row.precision == precision;
  });
}

/// The kernel for values and operands of one type, with one division of the result.
template <DType kValues, DType kDense, Precision kPrecision, class K, BulkDivision kDivide,
          int kMaxStages = kBulkStagesMost>
struct BulkInstance {
  static constexpr int kSize = sizeof(typename K::Dense);
  static constexpr BulkTraits kTraits = {
      .tile_bytes = K::Entries::kTileBytes, .divide = kDivide, .max_stages = kMaxStages};

  static Schedule schedule(const ScheduleRequest& request) {
    Schedule schedule;
    if (request.n * kSize % 16 == 0)
      if (const auto header = append_bulk(schedule, request, kSize, kTraits)) {
        schedule.header.set(*header);
        return schedule;
      }
    return skeleton(kValues, kDense, kPrecision).schedule(request);
  }

  static int launch(const Launch& launch, void* stream) noexcept {
    if (!launch.header->is<BulkHeader>()) return skeleton(kValues, kDense, kPrecision).launch(launch, stream);
    return start_bulk<K>(launch.header->as<BulkHeader>(), launch, static_cast<cudaStream_t>(stream));
  }

  static std::int64_t least_n(const ScheduleHeader& header, std::int64_t n) {
    if (!header.is<BulkHeader>()) return skeleton(kValues, kDense, kPrecision).least_n(header, n);
    const std::int64_t least = bulk_least_row_bytes(n * kSize, header.as<BulkHeader>().segments_most);
    return (least + kSize - 1) / kSize;
  }

  static constexpr DeviceKernel row(std::string_view name) {
    return {.kernel = name,
            .values = kValues,
            .dense = kDense,
            .precision = kPrecision,
            .capability = 90,
            .ieee = false,
            .schedule = schedule,
            .launch = launch,
            .least_n = least_n};
  }
};

/// Types of the paper: f32 operands, products in tf32; f32 values or a pattern.
template <DType kValues, class V, BulkDivision kDivide>
using BulkF32 = BulkInstance<kValues, DType::f32, Precision::tf32, BulkKernel<V, MathF32<false>>, kDivide>;

template <const std::string_view& kName, BulkDivision kDivide>
std::span<const DeviceKernel> bulk_instances() {
  static constexpr DeviceKernel kRows[] = {BulkF32<DType::f32, float, kDivide>::row(kName),
                                           BulkF32<DType::none, Ones, kDivide>::row(kName)};
  return kRows;
}

/// The kernel of the paper: consumers decode. Values of type V.
template <DType kValues, class V, BulkDivision kDivide, int kMaxStages, BulkSync kSync>
using Voltrix =
    BulkInstance<kValues, DType::f32, Precision::tf32,
                 BulkKernel<V, MathF32<false>, BulkWords<MathF32<false>, V, kSync == BulkSync::none>, kSync>,
                 kDivide, kMaxStages>;

template <const std::string_view& kName, BulkDivision kDivide, int kMaxStages = kBulkStagesMost,
          BulkSync kSync = BulkSync::stages>
std::span<const DeviceKernel> voltrix_instances() {
  static constexpr DeviceKernel kRows[] = {
      Voltrix<DType::f32, float, kDivide, kMaxStages, kSync>::row(kName),
      Voltrix<DType::none, Ones, kDivide, kMaxStages, kSync>::row(kName)};
  return kRows;
}

}  // namespace

std::span<const DeviceKernel> bmat_bulk_kernels() { return bulk_instances<kBmatBulk, divide_by_targets>(); }

std::span<const DeviceKernel> bmat_bulk_greedy_kernels() {
  return bulk_instances<kBmatBulkGreedy, divide_greedily>();
}

std::span<const DeviceKernel> bmat_bulk_genetic_kernels() {
  return bulk_instances<kBmatBulkGenetic, divide_genetically>();
}

std::span<const DeviceKernel> bmat_voltrix_kernels() {
  return voltrix_instances<kBmatVoltrix, divide_genetically>();
}

#ifdef SPTILE_ABLATIONS
std::span<const DeviceKernel> bmat_voltrix_sync_kernels() {
  return voltrix_instances<kBmatVoltrixSync, divide_genetically, 1>();
}

std::span<const DeviceKernel> bmat_voltrix_async_kernels() {
  return voltrix_instances<kBmatVoltrixAsync, divide_genetically, kBulkStagesMost, BulkSync::none>();
}

std::span<const DeviceKernel> bmat_voltrix_windows_kernels() {
  return voltrix_instances<kBmatVoltrixWindows, divide_by_windows>();
}

std::span<const DeviceKernel> bmat_voltrix_no_roles_kernels() {
  return voltrix_instances<kBmatVoltrixNoRoles, divide_by_windows, 1, BulkSync::block>();
}

std::span<const DeviceKernel> bmat_voltrix_unbalanced_kernels() {
  return voltrix_instances<kBmatVoltrixUnbalanced, divide_by_window_counts>();
}
#endif

}  // namespace sptile::runtime::cuda
