#include "formats/layout/bmat.hpp"

#include "runtime/cuda/tile16_spmm.hpp"
#include "runtime/cuda/tile_instances.cuh"

namespace sptile::runtime::cuda {
namespace {

struct Bmat {
  static constexpr std::string_view kKernel = "cuda.bmat.mma";
  using Source = Words16;
  static constexpr auto schedule = schedule_bmat;

  static void bind(const Launch& launch, TileTask& task, ShortTask&) {
    const formats::BmatView a = formats::as_bmat(launch.format);
    task.arrays = {a.col_id.data(), a.bits.data(), a.values.data};
    task.window_tile = a.row_window_offset.data();
  }
};

}  // namespace

std::span<const SpmmKernel> bmat_kernels() { return TileRows<Bmat, Blocks16>::rows(); }

}  // namespace sptile::runtime::cuda
