// Kernels of libra_spmm: those of a tile family for the TC part, and behind them the csr kernel for the
// residual part, which adds to the rows that the tiles have written. Each row of C is written once, or once
// and added to once.
#pragma once

#include <string_view>

#include "formats/layout/libra_spmm.hpp"
#include "runtime/cuda/csr_spmm.hpp"
#include "runtime/cuda/libra_schedule.hpp"
#include "runtime/cuda/schedule_parts.hpp"
#include "runtime/cuda/tile_instances.cuh"

namespace sptile::runtime::cuda {

/// Parts of the schedule.
inline constexpr std::size_t kTilesPart = 0, kRowsPart = 1;

/// Enqueues the residual part.
inline int launch_residual(DType values, DType dense, const Launch& launch, void* stream) noexcept {
  const formats::LibraSpmmView a = formats::as_libra_spmm(launch.format);
  const auto& numbers = launch.host->numbers;
  const CsrArrays arrays{reinterpret_cast<const std::int64_t*>(launch.schedule + numbers[kRowEntriesAt]),
                         a.residual_col_id.data(), a.residual_values.data,
                         reinterpret_cast<const std::int32_t*>(launch.schedule + numbers[kRowIdsAt])};
  return launch_rows(values, dense, arrays, launch, stream);
}

/// One row of the table; `Tiles` is the instance for the TC part.
template <class Tiles, DType kValues, DType kDense>
struct HybridInstance {
  static Schedule schedule(const formats::FormatView& host, std::span<const std::int32_t> row_order,
                           std::int64_t n, const DeviceInfo& device) {
    Schedule whole;
    append_schedule(whole, Tiles::schedule(host, row_order, n, device));
    append_schedule(whole, schedule_residual(formats::as_libra_spmm(host), kDense, n, device));
    return whole;
  }

  static int launch(const Launch& launch, void* stream) noexcept {
    const int code = Tiles::launch(launch_of_part(launch, kTilesPart), stream);
    if (code != cudaSuccess) return code;
    return launch_residual(kValues, kDense, launch_of_part(launch, kRowsPart), stream);
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

/// `Tiles` is the family for the TC part.
template <class Tiles>
struct HybridFamily {
  static constexpr std::string_view kKernel = Tiles::kKernel;
  template <class V, bool kSplit>
  using F32 = HybridInstance<typename Tiles::template F32<V, kSplit>, kValueType<V>, DType::f32>;
  template <class V, class D>
  using F16 = HybridInstance<typename Tiles::template F16<V, D>, kValueType<V>, kValueType<D>>;
  template <class V>
  using F64 = HybridInstance<typename Tiles::template F64<V>, kValueType<V>, DType::f64>;
};

}  // namespace sptile::runtime::cuda
