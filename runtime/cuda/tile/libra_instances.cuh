// Kernels of libra_spmm: those of a tile family for the TC part, and behind them the csr kernel for the
// residual part, which adds to the rows that the tiles have written. Each row of C is written once, or once
// and added to once.
#pragma once

#include <string_view>

#include "formats/layout/libra.hpp"
#include "runtime/cuda/csr/schedule.hpp"
#include "runtime/cuda/csr/csr.hpp"
#include "runtime/cuda/tile/libra_schedule.hpp"
#include "runtime/cuda/device/schedule_parts.hpp"
#include "runtime/cuda/tile/instances.cuh"

namespace sptile::runtime::cuda {

/// The TC part of libra_spmm.
struct LibraTiles {
  static constexpr std::string_view kDirect = "", kStaged = "";  ///< the formats say it
  using Source = Mask8;
  static constexpr auto schedule = schedule_libra_tiles;

  static void bind(const Launch& launch, TileTask& task, ShortTask&) {
    const formats::LibraView a = formats::as_libra(launch.format);
    const auto& numbers = launch.host->numbers;
    const auto ids = [&](TileNumber at) {
      return reinterpret_cast<const std::int32_t*>(launch.schedule + numbers[at]);
    };
    task.arrays = {a.col_id.data(), a.bitmap.data(), a.values.data, a.values.bytes()};
    task.window_tile = numbers[kWindowTileAt] < 0 ? a.row_window_offset.data() : ids(kWindowTileAt);
    if (numbers[kWindowRowAt] >= 0) task.window_row = ids(kWindowRowAt);
  }
};

inline bool has_rows(const Schedule& part) { return part.numbers[kRuns] + part.numbers[kPieces] > 0; }

/// The residual rows of a launch of that part.
inline CsrArrays residual_arrays(const Launch& launch) {
  const formats::LibraView a = formats::as_libra(launch.format);
  const auto& numbers = launch.host->numbers;
  return {reinterpret_cast<const std::int64_t*>(launch.schedule + numbers[kRowEntriesAt]),
          a.residual_col_id.data(), a.residual_values.data,
          reinterpret_cast<const std::int32_t*>(launch.schedule + numbers[kRowIdsAt])};
}

/// One row of the table; `Tiles` is the instance for the TC part.
template <class Tiles, DType kValues, DType kDense>
struct HybridInstance {
  static Schedule schedule(const formats::FormatView& host, std::span<const std::int32_t> row_order,
                           std::int64_t n, const DeviceInfo& device) {
    Schedule whole;
    append_schedule(whole, Tiles::schedule(host, row_order, n, device));
    append_schedule(whole, schedule_residual(formats::as_libra(host), kDense, n, device));
    return whole;
  }

  /// The rows begin while the tiles end, if there are both.
  static int launch(const Launch& launch, void* stream) noexcept {
    Launch tiles = launch_of_part(launch, kTilesPart), rows = launch_of_part(launch, kRowsPart);
    tiles.overlaps = rows.overlaps = tiles.host->numbers[kItemCount] > 0 && has_rows(*rows.host);
    const int code = Tiles::launch(tiles, stream);
    if (code != cudaSuccess) return code;
    return launch_rows(kValues, kDense, residual_arrays(rows), rows, stream);
  }
};

/// Types of values and of operands, as the table has them.
template <class V>
inline constexpr DType kValueType = DType::none;
template <>
inline constexpr DType kValueType<float> = DType::f32;
template <>
inline constexpr DType kValueType<double> = DType::f64;
template <>
inline constexpr DType kValueType<Half> = DType::f16;
template <>
inline constexpr DType kValueType<BFloat16> = DType::bf16;

/// `Tiles` is the family for the TC part, `Format` has the name of the kernel.
template <class Tiles, class Format>
struct HybridFamily {
  static constexpr std::string_view kKernel = Format::kKernel;
  template <class V, bool kSplit>
  using F32 = HybridInstance<typename Tiles::template F32<V, kSplit>, kValueType<V>, DType::f32>;
  template <class V, class D>
  using F16 = HybridInstance<typename Tiles::template F16<V, D>, kValueType<V>, kValueType<D>>;
  template <class V>
  using F64 = HybridInstance<typename Tiles::template F64<V>, kValueType<V>, DType::f64>;
};

}  // namespace sptile::runtime::cuda
