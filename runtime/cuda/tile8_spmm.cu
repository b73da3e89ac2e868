#include "runtime/cuda/tile8_spmm.hpp"

#include "formats/layout/bittcf.hpp"
#include "formats/layout/rs_tile.hpp"
#include "runtime/cuda/tile_instances.cuh"

namespace sptile::runtime::cuda {
namespace {

/// Blocks of 4 warps on a multiprocessor, as the registers allow (ptxas -v; sm_90).
struct Blocks8 {
  static constexpr int kSingle = 4, kF32x1 = 7, kF32x2 = 5, kF16x1 = 6, kF16x2 = 4, kF64x1 = 5, kF64x2 = 4;
};

struct BitTcf {
  static constexpr std::string_view kKernel = "cuda.bittcf.mma";
  using Source = Mask8;
  static constexpr auto schedule = schedule_bittcf;

  static void bind(const Launch& launch, TileTask& task, ShortTask&) {
    const formats::BitTcfView a = formats::as_bittcf(launch.format);
    task.arrays = {a.sparse_a_to_b.data(), a.tc_local_bit.data(), a.values.data};
    task.window_tile = a.row_window_offset.data();
  }
};

struct RsTile {
  static constexpr std::string_view kKernel = "cuda.rs_tile.mma";
  using Source = Mask8;
  static constexpr auto schedule = schedule_rs_tile;

  static void bind(const Launch& launch, TileTask& task, ShortTask& part) {
    const formats::RsTileView a = formats::as_rs_tile(launch.format);
    const auto& numbers = launch.host->numbers;
    const auto ids = [&](TileNumber at) {
      return reinterpret_cast<const std::int32_t*>(launch.schedule + numbers[at]);
    };
    task.arrays = {a.col_id.data(), a.bitmap.data(), a.values.data};
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

}  // namespace

std::span<const SpmmKernel> bittcf_kernels() { return TileRows<BitTcf, Blocks8>::rows(); }
std::span<const SpmmKernel> rs_tile_kernels() { return TileRows<RsTile, Blocks8>::rows(); }

}  // namespace sptile::runtime::cuda
