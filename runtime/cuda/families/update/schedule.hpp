// Division of the update of a layer on a CUDA device. Fused with aggregation: windows of up to 16 rows, one
// warp each, and pieces of rows that are too long for one. Gradients: parts of the rows, whose sums are added
// in order.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/cuda/collective/csr_schedule.hpp"
#include "runtime/cuda/device/qualifiers.hpp"
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/families/update/policy.hpp"

namespace sptile::runtime::cuda {

/// Rows of an MMA's result, the maximum of a window.
inline constexpr int kWindowRows = 16;
/// Columns of C that a warp computes at a time.
inline constexpr int kColumnGroup = 32;

/// Consecutive complete rows, including empty ones.
struct UpdateWindow {
  std::int64_t entry;  ///< first row
  std::int32_t row;    ///< first row
  std::int32_t rows;
};

/// Launch parameters; `..._at` are offsets in Schedule::bytes.
struct UpdateHeader {
  std::int64_t windows_at = 0, windows = 0;
  std::int64_t pieces_at = 0, pieces = 0;  ///< CsrPiece
  std::int64_t splits_at = 0, splits = 0;  ///< CsrSplit
  ScheduleScratch scratch;                 ///< counters: next item, finished blocks, one per split

  [[nodiscard]] std::int64_t items() const { return pieces + windows; }
};

/// Divides rows for n columns of B; sums take 4 bytes, 8 for f64.
UpdateHeader append_update(Schedule& schedule, std::span<const std::int64_t> row_ptr, DType dense,
                           std::int64_t n, const DeviceInfo& device);

/// Layout of weights and sums in shared memory.
struct UpdateMemory {
  int weight_bytes;  ///< bytes per weight: 4 as tf32, 8 as two of them or as f64
  int sum_bytes;
};
constexpr UpdateMemory update_memory(DType dense, Precision precision) {
  if (dense == DType::f64) return {8, 8};
  return {dense == DType::f32 && precision == Precision::fp32 ? 8 : 4, 4};
}

/// Shape of a block with all weights and a window per warp in shared memory.
struct UpdateShape {
  int warps = 0;   ///< 0: they do not fit
  int blocks = 0;  ///< per multiprocessor
  std::int64_t shared_bytes = 0;
};

/// Returns the distance between rows of a window in shared memory, in elements, for which the fragments of an
/// MMA have no bank conflicts.
SPTILE_HOST_DEVICE constexpr std::int64_t window_stride(std::int64_t n) { return (n + 7) / 8 * 8 + 4; }

/// A warp's bytes of shared memory in addition to its window.
inline constexpr std::int64_t kWarpStageBytes = 704;

std::int64_t update_weight_bytes(std::int64_t n, std::int64_t m, const UpdateMemory& memory);
UpdateShape update_shape(std::int64_t n, std::int64_t m, const UpdateMemory& memory,
                         const DeviceInfo& device);

/// Errc::unsupported, with the bytes, if weights of n x m do not fit.
Status check_update(std::int64_t n, std::int64_t m, const UpdateMemory& memory, const DeviceInfo& device);

/// Rows and columns of dW that a block sums, and rows of a tile of Z and G.
inline constexpr int kGradientTile = 64, kGradientRows = 32;

/// Launch parameters of a gradient.
struct GradientHeader {
  std::int64_t parts = 1, rows_per_part = 0;  ///< a multiple of kGradientRows
  ScheduleScratch scratch;                    ///< partials: [part][tile of dW][64 * 64], then [part][m]
};

/// Returns the tiles of a dW of n x m.
constexpr std::int64_t gradient_tiles(std::int64_t n, std::int64_t m) {
  return ((n + kGradientTile - 1) / kGradientTile) * ((m + kGradientTile - 1) / kGradientTile);
}

GradientHeader append_gradient(Schedule& schedule, std::int64_t rows, std::int64_t n, std::int64_t m,
                               DType dense, const DeviceInfo& device);

}  // namespace sptile::runtime::cuda
