#include "runtime/cuda/tile/tile8.hpp"

#include "formats/layout/bittcf.hpp"
#include "formats/layout/rs_tile.hpp"
#include "runtime/cuda/tile/libra_instances.cuh"
#include "runtime/cuda/tile/instances.cuh"

namespace sptile::runtime::cuda {
namespace {

struct BitTcf {
  static constexpr std::string_view kDirect = "cuda.bittcf.mma", kStaged = "cuda.bittcf.staged";
  using Source = Mask8;
  static constexpr auto schedule = schedule_bittcf;

  static void bind(const Launch& launch, TileTask& task, ShortTask&) {
    const formats::BitTcfView a = formats::as_bittcf(launch.format);
    task.arrays = {a.sparse_a_to_b.data(), a.tc_local_bit.data(), a.values.data, a.values.bytes()};
    task.window_tile = a.row_window_offset.data();
  }
};

struct RsTile {
  static constexpr std::string_view kDirect = "cuda.rs_tile.mma";
  using Source = Mask8;
  static constexpr auto schedule = schedule_rs_tile;

  static void bind(const Launch& launch, TileTask& task, ShortTask& part) {
    const formats::RsTileView a = formats::as_rs_tile(launch.format);
    const auto& numbers = launch.host->numbers;
    const auto ids = [&](TileNumber at) {
      return reinterpret_cast<const std::int32_t*>(launch.schedule + numbers[at]);
    };
    task.arrays = {a.col_id.data(), a.bitmap.data(), a.values.data, a.values.bytes()};
    task.window_row = numbers[kWindowRowAt] < 0 ? a.row_window_id.data() : ids(kWindowRowAt);
    task.window_tile = numbers[kWindowTileAt] < 0 ? a.row_window_offset.data() : ids(kWindowTileAt);
    part.items = reinterpret_cast<const ShortRows*>(launch.schedule + numbers[kShortAt]);
    part.item_count = static_cast<std::int32_t>(numbers[kShortCount]);
    part.rows = a.residual_row_id.data();
    part.empty_rows = ids(kEmptyRowsAt);
    part.columns = a.residual_col_id.data();
    part.values = a.residual_values.data;
  }
};

struct LibraSpmm {
  static constexpr std::string_view kKernel = "cuda.libra_spmm.mma";
};
struct LibraSddmm {
  static constexpr std::string_view kKernel = "cuda.libra_sddmm.mma";
};
template <class Format>
using LibraFamily = HybridFamily<StagedFamily<LibraTiles, Sizes8>, Format>;

}  // namespace

std::span<const DeviceKernel> bittcf_kernels() { return tile_rows<DirectFamily<BitTcf, Sizes8>>(); }
std::span<const DeviceKernel> bittcf_staged_kernels() { return tile_rows<StagedFamily<BitTcf, Sizes8>>(); }
std::span<const DeviceKernel> rs_tile_kernels() { return tile_rows<DirectFamily<RsTile, Sizes8>>(); }
std::span<const DeviceKernel> libra_spmm_kernels() { return tile_rows<LibraFamily<LibraSpmm>>(); }
std::span<const DeviceKernel> libra_sddmm_kernels() { return tile_rows<LibraFamily<LibraSddmm>>(); }

}  // namespace sptile::runtime::cuda
