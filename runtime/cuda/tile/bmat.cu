#include "formats/layout/bmat.hpp"

#include "runtime/cuda/tile/tile16.hpp"
#include "runtime/cuda/tile/instances.cuh"

namespace sptile::runtime::cuda {
namespace {

struct Bmat {
  static constexpr std::string_view kDirect = "cuda.bmat.mma", kStaged = "cuda.bmat.staged";
  using Source = Words16;
  static constexpr auto schedule = schedule_bmat;

  static void bind(const Launch& launch, TileTask& task, ShortTask&) {
    const formats::BmatView a = formats::as_bmat(launch.format);
    task.arrays = {a.col_id.data(), a.bits.data(), a.values.data, a.values.bytes()};
    task.window_tile = a.row_window_offset.data();
  }
};

}  // namespace

std::span<const DeviceKernel> bmat_kernels() { return tile_rows<DirectFamily<Bmat, Sizes16>>(); }
std::span<const DeviceKernel> bmat_staged_kernels() { return tile_rows<StagedFamily<Bmat, Sizes16>>(); }

}  // namespace sptile::runtime::cuda
