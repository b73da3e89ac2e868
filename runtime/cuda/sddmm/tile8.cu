#include "formats/layout/bittcf.hpp"
#include "formats/layout/libra.hpp"
#include "formats/layout/rs_tile.hpp"
#include "runtime/cuda/sddmm/sddmm.hpp"
#include "runtime/cuda/sddmm/launch.cuh"

namespace sptile::runtime::cuda {
namespace {

struct Registers8 {
  static constexpr int kF32Narrow = 72, kF32Wide = 128, kF16Narrow = 64, kF16Wide = 112;
};

struct BitTcf {
  static constexpr std::string_view kSddmm = "cuda.bittcf.sddmm";
  using Source = SampleMask8;
  static constexpr SampleScheduler kSample = sample_bittcf;

  static void bind(const Launch& launch, SampleTask& task, std::int64_t element_bytes) {
    const formats::BitTcfView a = formats::as_bittcf(launch.format);
    task.tiles.arrays = {a.sparse_a_to_b.data(), a.tc_local_bit.data(), a.values.data, a.values.bytes()};
    task.tiles.results = results_of(launch, a.values, 0, element_bytes);
  }
};

/// Parts of a format with tiles and rows, however it calls them.
template <class View>
void bind_both(const View& a, const std::int64_t* row_offset, const Launch& launch, SampleTask& task,
               std::int64_t element_bytes) {
  const auto residual = static_cast<std::int64_t>(a.residual_col_id.size());
  task.tiles.arrays = {a.col_id.data(), a.bitmap.data(), a.values.data, a.values.bytes()};
  task.tiles.results = results_of(launch, a.values, 0, element_bytes);
  task.entries.row_offset = row_offset;
  task.entries.row_id = a.residual_row_id.data();
  task.entries.columns = a.residual_col_id.data();
  task.entries.entries = residual;
  task.entries.rows = static_cast<std::int32_t>(a.residual_row_id.size());
  task.entries.results = results_of(launch, a.residual_values, a.nnz - residual, element_bytes);
}

struct RsTile {
  static constexpr std::string_view kSddmm = "cuda.rs_tile.sddmm";
  using Source = SampleMask8;
  static constexpr SampleScheduler kSample = sample_rs_tile;

  static void bind(const Launch& launch, SampleTask& task, std::int64_t element_bytes) {
    const auto* const offset = launch.schedule + launch.host->numbers[kSampleRowOffsetAt];
    bind_both(formats::as_rs_tile(launch.format), reinterpret_cast<const std::int64_t*>(offset), launch, task,
              element_bytes);
  }
};

/// Both formats of Libra have the same arrays.
struct Libra {
  using Source = SampleMask8;
  static constexpr SampleScheduler kSample = sample_libra;

  static void bind(const Launch& launch, SampleTask& task, std::int64_t element_bytes) {
    const formats::LibraView a = formats::as_libra(launch.format);
    bind_both(a, a.residual_row_offset.data(), launch, task, element_bytes);
  }
};

struct LibraSpmm : Libra {
  static constexpr std::string_view kSddmm = "cuda.libra_spmm.sddmm";
};
struct LibraSddmm : Libra {
  static constexpr std::string_view kSddmm = "cuda.libra_sddmm.sddmm";
};

}  // namespace

std::span<const DeviceKernel> bittcf_sddmm_kernels() {
  return sample_kernels<SampleFamily<BitTcf, Registers8>>();
}
std::span<const DeviceKernel> rs_tile_sddmm_kernels() {
  return sample_kernels<SampleFamily<RsTile, Registers8>>();
}
std::span<const DeviceKernel> libra_spmm_sddmm_kernels() {
  return sample_kernels<SampleFamily<LibraSpmm, Registers8>>();
}
std::span<const DeviceKernel> libra_sddmm_sddmm_kernels() {
  return sample_kernels<SampleFamily<LibraSddmm, Registers8>>();
}

}  // namespace sptile::runtime::cuda
