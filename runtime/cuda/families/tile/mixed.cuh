// Kernels of formats whose rows are either in tile windows or in row windows, in one launch. A block has one
// kind of work. Blocks of both kinds are interleaved evenly, so that both kinds run all the time and end
// together. Each row of C is stored once.
//
// Registers and shared memory are those of tile kernels: fewer groups of lanes fit on a multiprocessor than
// with the csr kernel, and each has twice the number of rows of B in flight. Matrices with one kind of work
// use the kernel for it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/cuda/collective/block.cuh"
#include "runtime/cuda/collective/csr_launch.cuh"
#include "runtime/cuda/families/tile/hybrid.cuh"

namespace sptile::runtime::cuda {

/// Rows of entries next to tiles of kernel K, with lanes for the columns of one of its warps.
template <class K>
struct MixedRows {
  using Dense = CudaNumber<typename K::Dense>;
  using Value = std::conditional_t<K::kPattern, Dense, CudaNumber<typename K::Value>>;
  using Arguments = CsrArguments<Value, Dense, CsrStore, CudaNumber<typename K::Result>>;

  static constexpr int kVector = 16 / static_cast<int>(sizeof(Dense));
  static constexpr int kLanes = std::clamp(K::kFeatures / kVector, 8, 32);
  static constexpr int kGroups = kWarpSize / kLanes;  ///< per warp
  struct Tuning {
    /// Widened bf16 elements take additional registers.
    static constexpr int kUnroll =
        std::is_same_v<typename K::Dense, BFloat16> && K::kRegisters <= 128 ? 4 : 8;
    static constexpr bool kCompact = true;
    static constexpr int kVectors = 1;
  };
  using Group = CsrGroup<Arguments, kLanes, true, Tuning>;
  struct Shared {
    typename Group::Shared group[kGroups];
  };
  static constexpr int kSharedBytes = (sizeof(Shared) + 127) / 128 * 128;  ///< per warp

  static __device__ __forceinline__ void multiply(const Arguments& arguments, const MixedGrid& grid,
                                                  std::uint32_t block, const TileThread& thread,
                                                  std::uint32_t shared_bytes) {
    const auto slice = static_cast<int>(block / grid.row_blocks_of_slice);
    const auto unit = static_cast<int>(block % grid.row_blocks_of_slice) * thread.warps + thread.warp;
    const int group = thread.lane / kLanes;
    auto& shared = *dynamic_shared_at<Shared>(thread.warp * shared_bytes);
    Group(arguments, shared.group[group], thread.lane % kLanes, unit * kGroups + group, slice).run();
  }
};

template <class K>
__global__ void __launch_bounds__(kMaxTileThreads) __maxnreg__(K::kRegisters)
    mixed_product(const __grid_constant__ TileTask task,
                  const __grid_constant__ typename MixedRows<K>::Arguments rows,
                  const __grid_constant__ MixedGrid grid) {
  follow_previous_kernel();
  const TileThread thread = tile_thread();
  const auto block = static_cast<std::uint32_t>(blockIdx.x);
  const std::uint32_t before = grid.rows_before(block);
  if (grid.rows_before(block + 1) == before)
    multiply_item<K>(task, static_cast<int>(block - before), thread);
  else
    MixedRows<K>::multiply(rows, grid, before, thread, task.shared_bytes);
}

/// Starts both kinds of work of one variant.
template <class K>
int start_mixed(TileTask task, const HybridHeader& header, const Launch& launch, cudaStream_t stream) {
  using Rows = MixedRows<K>;
  const std::int64_t warps = header.tiles.warps_per_block;
  const std::int64_t tile_blocks = shape_task<K>(task, warps, header.tiles.slices_together);
  task.shared_bytes = std::max(task.shared_bytes, std::uint32_t{Rows::kSharedBytes});
  auto rows =
      arguments_of<typename Rows::Arguments>(residual_arrays(header.rows, launch), header.rows.csr, launch);
  rows.slices = static_cast<int>(csr_geometry_of(Rows::kLanes, launch.n, Rows::kVector).slices);
  const std::int64_t of_slice = (rows.item_count + warps * Rows::kGroups - 1) / (warps * Rows::kGroups);
  const std::int64_t row_blocks = of_slice * rows.slices;
  const MixedGrid grid{static_cast<std::uint32_t>(tile_blocks + row_blocks),
                       static_cast<std::uint32_t>(row_blocks), static_cast<std::uint32_t>(of_slice)};
  return start_kernel<mixed_product<K>>({.blocks = dim3(grid.blocks),
                                         .threads = static_cast<unsigned>(warps * kWarpSize),
                                         .shared_bytes = static_cast<std::size_t>(warps) * task.shared_bytes,
                                         .resident = resident_blocks<K>(warps)},
                                        *launch.device, stream, task, rows, grid);
}

/// Mixed kernels of an instance of tile kernels, for aligned operands.
template <class Tiles>
struct Mixed;

template <class Scalar, class... Vector>
struct Mixed<TileInstance<Scalar, Vector...>> {
  using Start = int (*)(TileTask, const HybridHeader&, const Launch&, cudaStream_t);
  static constexpr int kLanes[] = {MixedRows<Vector>::kLanes...};
  static constexpr Start kStarts[] = {start_mixed<Vector>...};

  static bool fits(const Launch& launch) {
    using Arguments = typename MixedRows<Scalar>::Arguments;
    return is_aligned<typename Arguments::Dense, typename Arguments::Result>(launch);
  }
  static int start(const HybridHeader& header, const Launch& launch, cudaStream_t stream) {
    return kStarts[header.tiles.variant](tile_task(header.tiles, launch), header, launch, stream);
  }
};

/// One row of the table; `Tiles` is the instance for the tiles. Matrices with one kind of work and unaligned
/// operands use separate kernels.
template <class Tiles, DType kValues, DType kDense, DType kResult = kDense>
struct MixedInstance : StoredInstance<MixedInstance<Tiles, kValues, kDense, kResult>, HybridHeader,
                                      kMixedVersion, hybrid_numbers> {
  using Apart = HybridInstance<Tiles, kValues, kDense, kResult>;
  static constexpr int kWarps = TilePolicy{}.mixed_warps;  ///< per block without teams

  static HybridHeader append(Schedule& schedule, const ScheduleRequest& request) {
    HybridHeader header;
    header.tiles = Tiles::append(schedule, request, rows_in_tiles(request.format));
    header.rows =
        append_residual(schedule, request.format, kDense, request.n, request.device, lanes_of(header.tiles));
    return shaped(header);
  }
  static HybridHeader read(ScheduleReader& reader, Schedule& schedule, const ScheduleRequest& request) {
    HybridHeader header;
    header.tiles = Tiles::read(reader, schedule, request, rows_in_tiles(request.format));
    header.rows = read_residual(reader, schedule, request.format, kDense, request.n, lanes_of(header.tiles));
    return shaped(header);
  }

  static std::int64_t least_n(const ScheduleHeader& header, std::int64_t n) {
    const auto& parts = header.as<HybridHeader>();
    return parts.tiles.item_count == 0 ? csr_least_n(n, csr_vector(kDense)) : Tiles::least_n(parts.tiles, n);
  }

  static int launch(const Launch& launch, void* stream) noexcept {
    const auto& header = launch.header->as<HybridHeader>();
    if (has_both(header) && Mixed<Tiles>::fits(launch))
      return Mixed<Tiles>::start(header, launch, static_cast<cudaStream_t>(stream));
    return Apart::launch(launch, stream);
  }
  static PolicyValues policy(int capability) { return Tiles::policy(capability); }

 private:
  static bool has_both(const HybridHeader& header) {
    return header.tiles.item_count > 0 && header.rows.csr.items() > 0;
  }
  /// Returns the lanes of a group next to these tiles; 0, the default for n columns, without tiles.
  static int lanes_of(const TileHeader& tiles) {
    return tiles.item_count == 0 ? 0 : Mixed<Tiles>::kLanes[tiles.variant];
  }
  static HybridHeader shaped(HybridHeader header) {
    if (header.tiles.teams == 0 && has_both(header)) header.tiles.warps_per_block = kWarps;
    return header;
  }
};

/// `Tiles` is the family for the tiles.
template <class Tiles>
struct MixedFamily {
  template <class V, bool kSplit>
  using F32 = MixedInstance<typename Tiles::template F32<V, kSplit>, kDTypeOf<V>, DType::f32>;
  template <class V, class D>
  using F16 = MixedInstance<typename Tiles::template F16<V, D>, kDTypeOf<V>, kDTypeOf<D>>;
  template <class V, class D>
  using F16ToF32 =
      MixedInstance<typename Tiles::template F16ToF32<V, D>, kDTypeOf<V>, kDTypeOf<D>, DType::f32>;
  template <class V>
  using F64 = MixedInstance<typename Tiles::template F64<V>, kDTypeOf<V>, DType::f64>;
};

}  // namespace sptile::runtime::cuda
