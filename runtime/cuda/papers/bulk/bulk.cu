#include <iterator>

#include "formats/layout/bmat.hpp"
#include "runtime/cuda/papers/bulk/launch.cuh"
#include "runtime/cuda/tile/tile16.hpp"

// bmat on compute capability 9.0 and up, as Voltrix-SpMM (USENIX ATC 2025) multiplies it: persistent blocks
// with warps of three kinds. Producers bring each row of B that a tile needs, in the slice of the block,
// by one bulk copy; decoders turn words and values into the operands of the tensor core, once for all
// consumers; these multiply, each for its own 128 bytes of the rows. Stages of a few tiles in shared memory
// lie between them, so that 64 KiB and more of B are on their way to a multiprocessor at any time, and no
// register holds what is not there yet.

namespace sptile::runtime::cuda {
namespace {

/// The row of cuda.bmat.mma that does the same: it serves operands whose rows are no whole pieces of 16
/// bytes, and devices with little shared memory.
const DeviceKernel& skeleton(DType values, DType dense, Precision precision) {
  const std::span<const DeviceKernel> rows = bmat_kernels();
  std::size_t i = 0;
  while (rows[i].values != values || rows[i].dense != dense || rows[i].precision != precision) ++i;
  return rows[i];
}

using BulkStart = int (*)(TileTask, const Launch&, cudaStream_t);

/// Kernels of growing tiles for one pair of types and precision.
template <DType kValues, DType kDense, Precision kPrecision, class... K>
struct BulkInstance {
  using First = std::tuple_element_t<0, std::tuple<K...>>;
  static constexpr BulkVariant kVariants[] = {{K::kTiles, K::kEntryBytes}...};
  static constexpr int kSize = sizeof(typename First::Dense);

  static Schedule schedule(const formats::FormatView& host, std::span<const std::int32_t> row_order,
                           std::int64_t n, const DeviceInfo& device) {
    if (n * kSize % 16 == 0) {
      Schedule made = schedule_bulk(host, n, kSize, kVariants, bulk_tuning(device, kPrecision), device);
      if (made.numbers[kBulkStages] > 0) return made;
    }
    return skeleton(kValues, kDense, kPrecision).schedule(host, row_order, n, device);
  }

  static int launch(const Launch& launch, void* stream) noexcept {
    static constexpr BulkStart kStarts[] = {start_bulk<K>...};
    if (launch.host->numbers[kBulkStages] == 0)
      return skeleton(kValues, kDense, kPrecision).launch(launch, stream);
    const formats::BmatView a = formats::as_bmat(launch.format);
    TileTask tiles = common_task(launch);
    tiles.arrays = {a.col_id.data(), a.bits.data(), a.values.data, a.values.bytes()};
    tiles.window_tile = a.row_window_offset.data();
    return kStarts[launch.host->numbers[kVariant]](tiles, launch, static_cast<cudaStream_t>(stream));
  }

  static constexpr DeviceKernel row() {
    return {"cuda.bmat.bulk", kValues, kDense, kPrecision, 90, false, schedule, launch};
  }
};

/// Both sizes of stages for the types that are met most, one for the others.
template <class V, class Math, DType kValues, DType kDense, Precision kPrecision>
using Common = BulkInstance<kValues, kDense, kPrecision, BulkKernel<V, Math, 4>, BulkKernel<V, Math, 8>>;
template <class V, class Math, DType kValues, DType kDense, Precision kPrecision>
using Rare = BulkInstance<kValues, kDense, kPrecision, BulkKernel<V, Math, 4>>;

using Tf32 = MathF32<false>;
using Split = MathF32<true>;
template <class D>
using Math16 = MathHalf<D, 8>;

constexpr DeviceKernel kRows[] = {
    Common<float, Tf32, DType::f32, DType::f32, Precision::tf32>::row(),
    Common<float, Split, DType::f32, DType::f32, Precision::fp32>::row(),
    Rare<Half, Tf32, DType::f16, DType::f32, Precision::tf32>::row(),
    Rare<Half, Split, DType::f16, DType::f32, Precision::fp32>::row(),
    Rare<BFloat16, Tf32, DType::bf16, DType::f32, Precision::tf32>::row(),
    Rare<BFloat16, Split, DType::bf16, DType::f32, Precision::fp32>::row(),
    Rare<Ones, Tf32, DType::none, DType::f32, Precision::tf32>::row(),
    Rare<Ones, Split, DType::none, DType::f32, Precision::fp32>::row(),
    Common<Half, Math16<Half>, DType::f16, DType::f16, Precision::fp16>::row(),
    Common<BFloat16, Math16<BFloat16>, DType::bf16, DType::bf16, Precision::bf16>::row(),
    Rare<Ones, Math16<Half>, DType::none, DType::f16, Precision::fp16>::row(),
    Rare<Ones, Math16<BFloat16>, DType::none, DType::bf16, Precision::bf16>::row(),
    Rare<double, MathF64, DType::f64, DType::f64, Precision::fp64>::row(),
    Rare<Ones, MathF64, DType::none, DType::f64, Precision::fp64>::row(),
};

}  // namespace

std::span<const DeviceKernel> bmat_bulk_kernels() { return {kRows, std::size(kRows)}; }

}  // namespace sptile::runtime::cuda
