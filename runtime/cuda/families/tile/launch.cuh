// Launches of the tile kernels. Each .cu file that includes this instantiates its kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "formats/layout/blocks.hpp"
#include "runtime/cuda/device/start_kernel.cuh"
#include "runtime/cuda/device/whole_pieces.hpp"
#include "runtime/cuda/families/tile/kernels.cuh"
#include "runtime/cuda/families/tile/schedule.hpp"

namespace sptile::runtime::cuda {

/// Returns whether rows of B and C can be accessed in units of `elements` elements, and values in units of 16
/// bytes.
template <class Dense, class Result>
bool aligned(const Launch& launch, int elements) {
  constexpr std::int64_t kSize = sizeof(Dense), kResultSize = sizeof(Result);
  return whole_values(launch.format) &&
         whole_pieces(launch.operands.dense[kSpmmB], launch.n, kSize, kSize * elements) &&
         whole_pieces(launch.operands.dense[kSpmmC], launch.n, kResultSize,
                      kResultSize * whole_elements<Result>(elements));
}

/// Returns the number of resident blocks that tile kernels reserve shared memory for.
template <class K>
constexpr int resident_blocks(std::int64_t warps_per_block) {
  return static_cast<int>((K::kWarpsPerSm + warps_per_block - 1) / warps_per_block);
}

/// Sets the kernel-dependent parameters of the task. Returns the blocks of the tiles.
template <class K>
std::int64_t shape_task(TileTask& task, std::int64_t warps, int slices_together) {
  task.ldb_bytes = static_cast<std::uint64_t>(task.ldb) * sizeof(typename K::Dense);
  task.slices = static_cast<std::int32_t>((task.n + K::kFeatures - 1) / K::kFeatures);
  task.slices_together = std::min(task.slices, slices_together);
  task.passes = (task.slices + task.slices_together - 1) / task.slices_together;
  const std::int64_t alone = task.item_count - task.teams * warps;
  const std::int64_t per_pass =
      std::int64_t{task.teams} * task.slices_together + (alone * task.slices_together + warps - 1) / warps;
  task.shared_bytes =
      static_cast<std::uint32_t>(task.teams > 0 ? std::max(K::kSharedBytes, K::kSumBytes) : K::kSharedBytes);
  task.blocks_per_pass = static_cast<std::int32_t>(per_pass);
  task.padded_n = std::int64_t{task.slices} * K::kFeatures;
  return per_pass * task.passes;
}

/// Starts the kernel of one variant.
template <class K>
int start_tiles(TileTask task, ShortTask part, const TileHeader& header, const Launch& launch,
                cudaStream_t stream) {
  const std::int64_t warps = header.warps_per_block;
  const std::int64_t tile_blocks = shape_task<K>(task, warps, header.slices_together);
  const auto row_lanes = (task.n + K::kElements - 1) / K::kElements;
  part.lanes_per_row = 1;
  while (part.lanes_per_row < std::min<std::int64_t>(row_lanes, kWarpSize)) part.lanes_per_row *= 2;
  const std::int64_t blocks = tile_blocks + (part.item_count + warps - 1) / warps;
  if (blocks == 0) return cudaSuccess;
  return start_kernel<tile_product<K>>({.blocks = dim3(static_cast<unsigned>(blocks)),
                                        .threads = static_cast<unsigned>(warps * kWarpSize),
                                        .shared_bytes = static_cast<std::size_t>(warps) * task.shared_bytes,
                                        .resident = resident_blocks<K>(warps)},
                                       *launch.device, stream, task, part);
}

using TileStart = int (*)(TileTask, ShortTask, const TileHeader&, const Launch&, cudaStream_t);

/// Returns the common kernel parameters of all formats: tiles, windows and operands.
inline TileTask tile_task(const TileHeader& header, const Launch& launch) {
  const formats::Blocks blocks = formats::blocks_of(launch.format);
  const ArrayView values = launch.format.values();
  const Operand &b = launch.operands.dense[kSpmmB], &c = launch.operands.dense[kSpmmC];
  const auto own = [&](std::int64_t at, std::span<const std::int32_t> stored) {
    return at < 0 ? stored.data() : launch.part<std::int32_t>(at);
  };
  TileTask task{};
  task.arrays = {blocks.columns.data(),
                 header.masks_at < 0 ? blocks.masks : launch.part<std::byte>(header.masks_at), values.data,
                 values.bytes()};
  task.window_tile = own(header.window_tile_at, blocks.tile_offset);
  task.window_row = own(header.window_row_at, blocks.first_row);
  task.row_order = launch.row_order;
  task.items = launch.part<TileItem>(header.items_at);
  task.item_count = static_cast<std::int32_t>(header.item_count);
  task.teams = header.teams;
  task.splits = launch.part<SplitWindow>(header.splits_at);
  task.rows = static_cast<std::int32_t>(launch.format.rows);
  task.b = b.data;
  task.ldb = b.ld;
  task.c = c.data;
  task.ldc = c.ld;
  task.n = launch.n;
  task.scale = {static_cast<float>(launch.operands.alpha), static_cast<float>(launch.operands.beta)};
  task.wide_scale = {launch.operands.alpha, launch.operands.beta};
  task.arrived = reinterpret_cast<unsigned*>(launch.workspace + header.scratch.counters_at);
  task.partials = launch.workspace + header.scratch.partials_at;
  return task;
}

/// Returns the rows in classes and the empty rows; empty for formats without them.
inline ShortTask short_task(const TileHeader& header, const Launch& launch) {
  const formats::BlockRows rows = formats::blocks_of(launch.format).rows;
  ShortTask part{};
  part.items = launch.part<ShortRows>(header.short_at);
  part.item_count = static_cast<std::int32_t>(header.short_count);
  part.rows = rows.ids.data();
  part.empty_rows = launch.part<std::int32_t>(header.empty_rows_at);
  part.columns = rows.columns.data();
  part.values = launch.format.values(1).data;
  return part;
}

}  // namespace sptile::runtime::cuda
