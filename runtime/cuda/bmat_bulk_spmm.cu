#include <iterator>

#include "formats/layout/bmat.hpp"
#include "runtime/cuda/bulk_launch.cuh"
#include "runtime/cuda/tile16_spmm.hpp"

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

template <class V, class Math, DType kValues, DType kDense, Precision kPrecision>
struct BulkInstance {
  using Small = BulkKernel<V, Math, 4>;
  using Large = BulkKernel<V, Math, 8>;
  static constexpr BulkVariant kVariants[] = {{Small::kTiles, Small::kEntryBytes},
                                              {Large::kTiles, Large::kEntryBytes}};
  static constexpr int kSize = sizeof(typename Math::Dense);

  static Schedule schedule(const formats::FormatView& host, std::span<const std::int32_t> row_order,
                           std::int64_t n, const DeviceInfo& device) {
    if (n * kSize % 16 == 0) {
      Schedule made = schedule_bulk(host, n, kSize, kVariants, bulk_tuning(device, kPrecision), device);
      if (made.numbers[kBulkStages] > 0) return made;
    }
    return skeleton(kValues, kDense, kPrecision).schedule(host, row_order, n, device);
  }

  static int launch(const Launch& launch, void* stream) noexcept {
    static constexpr BulkStart kStarts[] = {start_bulk<Small>, start_bulk<Large>};
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

template <class V, DType kValues>
using Tf32 = BulkInstance<V, MathF32<false>, kValues, DType::f32, Precision::tf32>;
template <class V, DType kValues>
using Split = BulkInstance<V, MathF32<true>, kValues, DType::f32, Precision::fp32>;
template <class V, DType kValues>
using Fp16 = BulkInstance<V, MathHalf<Half, 8>, kValues, DType::f16, Precision::fp16>;
template <class V, DType kValues>
using Bf16 = BulkInstance<V, MathHalf<BFloat16, 8>, kValues, DType::bf16, Precision::bf16>;
template <class V, DType kValues>
using Fp64 = BulkInstance<V, MathF64, kValues, DType::f64, Precision::fp64>;

constexpr DeviceKernel kRows[] = {
    Tf32<float, DType::f32>::row(),     Split<float, DType::f32>::row(),
    Tf32<Half, DType::f16>::row(),      Split<Half, DType::f16>::row(),
    Tf32<BFloat16, DType::bf16>::row(), Split<BFloat16, DType::bf16>::row(),
    Tf32<Ones, DType::none>::row(),     Split<Ones, DType::none>::row(),
    Fp16<Half, DType::f16>::row(),      Bf16<BFloat16, DType::bf16>::row(),
    Fp16<Ones, DType::none>::row(),     Bf16<Ones, DType::none>::row(),
    Fp64<double, DType::f64>::row(),    Fp64<Ones, DType::none>::row(),
};

}  // namespace

std::span<const DeviceKernel> bmat_bulk_kernels() { return {kRows, std::size(kRows)}; }

}  // namespace sptile::runtime::cuda
