// A tile kernel whose windows are divided in another way than divide_windows does. Nothing here makes machine
// code: launches are those of an instance that is there, or that the row brings along.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/cuda/families/tile/instances.cuh"

namespace sptile::runtime::cuda {

/// One row of the table. `Tiles` is the instance, for operands of f32 in tf32, that multiplies; kVersion is
/// that of what kDivide makes.
template <class Tiles, DivideWindows kDivide, std::uint32_t kVersion>
struct DividedInstance
    : StoredInstance<DividedInstance<Tiles, kDivide, kVersion>, TileHeader, kVersion, tile_numbers> {
  static TileRequest tiles_of(const ScheduleRequest& request) {
    TileRequest tiles = Tiles::tiles_of(request);
    tiles.divide = kDivide;
    return tiles;
  }
  static TileHeader append(Schedule& schedule, const ScheduleRequest& request) {
    return append_tiles(schedule, tiles_of(request));
  }
  static TileHeader read(ScheduleReader& reader, Schedule& schedule, const ScheduleRequest& request) {
    return read_tiles(reader, schedule, tiles_of(request));
  }

  static constexpr DeviceKernel row(std::string_view kernel,
                                    int (*launch)(const Launch& launch, void* stream) noexcept) {
    return {.kernel = kernel,
            .values = DType::f32,
            .dense = DType::f32,
            .precision = Precision::tf32,
            .capability = 80,
            .ieee = false,
            .schedule = DividedInstance::schedule,
            .launch = launch,
            .least_n = Tiles::least_n,
            .store = &DividedInstance::kStore};
  }
};

/// Launches the instance for f32 in tf32 of another kernel: its machine code is there once.
template <std::span<const DeviceKernel> (*kInstances)()>
int launch_tf32_of(const Launch& launch, void* stream) noexcept {
  for (const DeviceKernel& row : kInstances())
    if (row.values == DType::f32 && row.precision == Precision::tf32) return row.launch(launch, stream);
  return cudaErrorInvalidValue;
}

}  // namespace sptile::runtime::cuda
