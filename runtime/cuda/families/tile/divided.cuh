// Tile kernels that divide windows differently from divide_windows. They instantiate no device code.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/cuda/families/tile/instances.cuh"

namespace sptile::runtime::cuda {

/// One row of the table. `Tiles` is the instance that multiplies, for f32 operands in tf32 and f32 values or
/// a pattern; kVersion is the version of the schedules of kDivide.
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
                                    int (*launch)(const Launch& launch, void* stream) noexcept,
                                    DType values = DType::f32) {
    return {.kernel = kernel,
            .values = values,
            .dense = DType::f32,
            .precision = Precision::tf32,
            .capability = 80,
            .ieee = false,
            .schedule = DividedInstance::schedule,
            .launch = launch,
            .least_n = Tiles::least_n,
            .store = &DividedInstance::kStore,
            .policy = Tiles::policy};
  }
};

/// Launches the instance of another kernel for f32 operands in tf32.
template <std::span<const DeviceKernel> (*kInstances)(), DType kValues>
int launch_tf32_of(const Launch& launch, void* stream) noexcept {
  for (const DeviceKernel& row : kInstances())
    if (row.values == kValues && row.precision == Precision::tf32) return row.launch(launch, stream);
  return cudaErrorInvalidValue;
}

}  // namespace sptile::runtime::cuda
