// How the update of a layer is divided on a CUDA device. Fused with aggregation: windows of up to 16 rows,
// each the work of one warp, and pieces of rows that are too long for one. Gradients: parts of the rows,
// whose sums are added in order.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/cuda/collective/csr_schedule.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

/// Rows of an MMA's result: a window has no more.
inline constexpr int kWindowRows = 16;
/// Columns of C that a warp forms at a time.
inline constexpr int kColumnGroup = 32;

/// Consecutive whole rows, empty ones too.
struct UpdateWindow {
  std::int64_t entry;  ///< first of them
  std::int32_t row;    ///< first of them
  std::int32_t rows;
};

/// What launching reads; `..._at` are offsets in Schedule::bytes.
struct UpdateHeader {
  std::int64_t windows_at = 0, windows = 0;
  std::int64_t pieces_at = 0, pieces = 0;  ///< CsrPiece
  std::int64_t splits_at = 0, splits = 0;  ///< CsrSplit
  ScheduleScratch scratch;                 ///< counters: next item, blocks that are done, one for each split

  [[nodiscard]] std::int64_t items() const { return pieces + windows; }
};

/// Divides rows for n columns of B; sums take 4 bytes, 8 for f64.
UpdateHeader append_update(Schedule& schedule, std::span<const std::int64_t> row_ptr, DType dense,
                           std::int64_t n, const DeviceInfo& device);

/// How weights lie in shared memory, and sums beside them.
struct UpdateMemory {
  int weight_bytes;  ///< of one: 4 as tf32, 8 as two of them or as f64
  int sum_bytes;
  int warps;  ///< that registers have room for on a multiprocessor; a block has half of them at most
};
constexpr UpdateMemory update_memory(DType dense, Precision precision) {
  if (dense == DType::f64) return {8, 8, 24};
  if (dense != DType::f32) return {4, 4, 24};
  return precision == Precision::fp32 ? UpdateMemory{8, 4, 24} : UpdateMemory{4, 4, 24};
}

/// Shape of a block that has all weights beside a window for each of its warps.
struct UpdateShape {
  int warps = 0;   ///< 0: they do not fit
  int blocks = 0;  ///< on a multiprocessor
  std::int64_t shared_bytes = 0;
};

/// Elements between rows of a window in shared memory: fragments of an MMA meet no bank twice.
constexpr std::int64_t window_stride(std::int64_t n) { return (n + 7) / 8 * 8 + 4; }

/// What a warp works in beside its window.
inline constexpr std::int64_t kWarpStageBytes = 704;

std::int64_t update_weight_bytes(std::int64_t n, std::int64_t m, const UpdateMemory& memory);
UpdateShape update_shape(std::int64_t n, std::int64_t m, const UpdateMemory& memory,
                         const DeviceInfo& device);

/// Errc::unsupported with the bytes where weights of n x m do not fit.
Status check_update(std::int64_t n, std::int64_t m, const UpdateMemory& memory, const DeviceInfo& device);

/// Rows and columns of dW that a block sums, and rows of a tile of Z and G.
inline constexpr int kGradientTile = 64, kGradientRows = 32;

/// What launching a gradient reads.
struct GradientHeader {
  std::int64_t parts = 1, rows_per_part = 0;  ///< a multiple of kGradientRows
  ScheduleScratch scratch;                    ///< partials: [part][tile of dW][64 * 64], then [part][m]
};

/// Tiles of a dW of n x m.
constexpr std::int64_t gradient_tiles(std::int64_t n, std::int64_t m) {
  return ((n + kGradientTile - 1) / kGradientTile) * ((m + kGradientTile - 1) / kGradientTile);
}

GradientHeader append_gradient(Schedule& schedule, std::int64_t rows, std::int64_t n, std::int64_t m,
                               DType dense, const DeviceInfo& device);

}  // namespace sptile::runtime::cuda
