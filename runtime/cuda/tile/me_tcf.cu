#include "formats/layout/me_tcf.hpp"

#include "runtime/cuda/tile/tile16.hpp"
#include "runtime/cuda/tile/instances.cuh"

namespace sptile::runtime::cuda {
namespace {

struct MeTcf {
  static constexpr std::string_view kDirect = "cuda.me_tcf.mma";
  using Source = Mask16;
  static constexpr auto schedule = schedule_me_tcf;

  static void bind(const Launch& launch, TileTask& task, ShortTask&) {
    const formats::MeTcfView a = formats::as_me_tcf(launch.format);
    task.arrays = {a.sparse_a_to_b.data(), launch.schedule + launch.host->numbers[kMasksAt], a.values.data,
                   a.values.bytes()};
    task.window_tile = a.row_window_offset.data();
  }
};

}  // namespace

std::span<const DeviceKernel> me_tcf_kernels() { return tile_rows<RareFamily<MeTcf, Sizes16>>(); }

}  // namespace sptile::runtime::cuda
