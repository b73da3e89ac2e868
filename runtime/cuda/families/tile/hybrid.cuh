// Kernels of formats with tiles and rows: a tile kernel for the TC part, then the csr kernel for the residual
// part, which adds to the rows that the tiles have stored.
#pragma once

#include <algorithm>

#include "runtime/cuda/collective/csr_rows.hpp"
#include "runtime/cuda/families/tile/hybrid_schedule.hpp"
#include "runtime/cuda/families/tile/instances.cuh"

namespace sptile::runtime::cuda {

/// Returns the residual rows of a launch.
inline CsrArrays residual_arrays(const ResidualHeader& header, const Launch& launch) {
  return {.row_ptr = launch.part<std::int64_t>(header.entries_at),
          .columns = formats::blocks_of(launch.format).rows.columns.data(),
          .values = launch.format.values(1).data,
          .row_ids = header.all ? nullptr : launch.part<std::int32_t>(header.ids_at)};
}

/// One row of the table; `Tiles` is the instance for the TC part.
template <class Tiles, DType kValues, DType kDense, DType kResult = kDense>
struct HybridInstance : StoredInstance<HybridInstance<Tiles, kValues, kDense, kResult>, HybridHeader,
                                       kHybridVersion, hybrid_numbers> {
  static HybridHeader append(Schedule& schedule, const ScheduleRequest& request) {
    HybridHeader header;
    header.tiles = Tiles::append(schedule, request);
    header.rows = append_residual(schedule, request.format, kDense, request.n, request.device);
    return header;
  }
  static HybridHeader read(ScheduleReader& reader, Schedule& schedule, const ScheduleRequest& request) {
    HybridHeader header;
    header.tiles = Tiles::read(reader, schedule, request);
    header.rows = read_residual(reader, schedule, request.format, kDense, request.n);
    return header;
  }

  static std::int64_t least_n(const ScheduleHeader& header, std::int64_t n) {
    return std::max(Tiles::least_n(header.as<HybridHeader>().tiles, n), csr_least_n(n, csr_vector(kDense)));
  }

  /// Starts both kernels. If there are both, the csr kernel starts before the tile kernel has ended.
  static int launch(const Launch& launch, void* stream) noexcept {
    const auto& header = launch.header->as<HybridHeader>();
    CsrArrays rows = residual_arrays(header.rows, launch);
    rows.overlaps = header.tiles.item_count > 0 && header.rows.csr.items() > 0;
    const int code = Tiles::start(header.tiles, launch, static_cast<cudaStream_t>(stream), rows.overlaps);
    if (code != cudaSuccess) return code;
    return launch_rows(kValues, {kDense, kResult}, rows, header.rows.csr, launch, stream);
  }
  static PolicyValues policy(int capability) { return Tiles::policy(capability); }
};

/// `Tiles` is the family for the TC part.
template <class Tiles>
struct HybridFamily {
  template <class V, bool kSplit>
  using F32 = HybridInstance<typename Tiles::template F32<V, kSplit>, kDTypeOf<V>, DType::f32>;
  template <class V, class D>
  using F16 = HybridInstance<typename Tiles::template F16<V, D>, kDTypeOf<V>, kDTypeOf<D>>;
  template <class V, class D>
  using F16ToF32 =
      HybridInstance<typename Tiles::template F16ToF32<V, D>, kDTypeOf<V>, kDTypeOf<D>, DType::f32>;
  template <class V>
  using F64 = HybridInstance<typename Tiles::template F64<V>, kDTypeOf<V>, DType::f64>;
};

}  // namespace sptile::runtime::cuda
