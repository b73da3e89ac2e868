// Launches of HyGNN's kernels: their operands and the shape of a block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "formats/layout/hc_window.hpp"
#include "runtime/cuda/device/launch_shape.hpp"
#include "runtime/cuda/papers/hygnn/schedule.hpp"
#include "runtime/cuda/papers/hygnn/task.cuh"

namespace sptile::runtime::cuda {

/// Returns A and B of a launch, whose first dense operand is B with n columns.
inline HygnnOperands hygnn_operands(const Launch& launch, const HygnnHeader& header, std::int64_t n,
                                    int threads_per_row) {
  const formats::HcWindowView a = formats::as_hc_window(launch.format);
  const Operand& b = launch.operands.dense[0];
  return {.window_tile = a.row_window_offset.data(),
          .tile_value = a.tc_offset.data(),
          .masks = reinterpret_cast<const std::uint32_t*>(a.bitmap.data()),
          .tile_columns = a.col_id.data(),
          .tile_values = a.values.data,
          .row_entry = launch.part<std::int64_t>(header.row_entry_at),
          .row_columns = a.row_col_id.data(),
          .row_values = a.row_values.data,
          .rows = static_cast<std::int32_t>(a.rows),
          .threads_per_row = threads_per_row,
          .b = static_cast<const float*>(b.data),
          .ldb = b.ld,
          .n = n};
}

inline std::int64_t hygnn_windows(const Launch& launch) {
  return (launch.format.rows + kHygnnRows - 1) / kHygnnRows;
}

/// Returns the shape of a launch with shared memory for `numbers` bytes after that of the product.
inline LaunchShape hygnn_shape(std::int64_t blocks, unsigned threads, std::int64_t numbers) {
  constexpr unsigned kThreadsPerSm = 1024;  // with 64 registers each, as ptxas allocates
  return {.blocks = dim3(static_cast<unsigned>(blocks)),
          .threads = threads,
          .shared_bytes = static_cast<std::size_t>(kHygnnNumbersAt + numbers),
          .resident = static_cast<int>(kThreadsPerSm / threads)};
}

/// Returns a row of the types of the paper: f32 operands, products in tf32, with or without values.
constexpr DeviceKernel hygnn_row(std::string_view kernel, DType values,
                                 int (*launch)(const Launch&, void*) noexcept,
                                 Schedule (*schedule)(const ScheduleRequest&) = schedule_hygnn,
                                 Status (*check)(const ServiceRequest&) = nullptr) {
  return {.kernel = kernel,
          .values = values,
          .dense = DType::f32,
          .precision = Precision::tf32,
          .capability = 80,
          .ieee = false,
          .schedule = schedule,
          .launch = launch,
          .check = check};
}

/// Returns the warps of a block: one per 16 of n features.
inline unsigned hygnn_warps(std::int64_t n) {
  const std::int64_t slabs = (n + kHygnnFeatures - 1) / kHygnnFeatures;
  return static_cast<unsigned>(std::clamp<std::int64_t>(slabs, kHygnnMinWarps, kHygnnMaxWarps));
}

}  // namespace sptile::runtime::cuda
