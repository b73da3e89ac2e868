#include "runtime/cuda/families/update/schedule.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace sptile::runtime::cuda {
namespace {

constexpr FusedUpdatePolicy kPolicy;
constexpr std::int64_t kWarpsPerSm = kPolicy.warps_per_sm, kPieceStep = kPolicy.piece_step;

/// Maximum work of an item, and rows of a window.
struct Targets {
  std::int64_t entries;
  int rows;
};

/// Small matrices have small windows, so that there is work for all multiprocessors.
Targets targets(std::int64_t rows, std::int64_t entries, const DeviceInfo& device) {
  const std::int64_t sms = std::max(device.sm_count, 1);
  const std::int64_t share = (entries + kRowCost * rows) / (sms * kWarpsPerSm * kPolicy.items_per_warp);
  int window = kWindowRows;
  while (window > 4 && rows / window < sms * kWarpsPerSm / 2) window /= 2;
  return {std::clamp<std::int64_t>(share / kPieceStep * kPieceStep, kPolicy.min_item, kPolicy.max_item),
          window};
}

struct Items : CsrPieces {
  std::vector<UpdateWindow> windows;
};

Items divide(std::span<const std::int64_t> row_ptr, const Targets& target) {
  const std::int64_t rows = std::ssize(row_ptr) - 1;
  const std::int64_t* const at = row_ptr.data();
  Items items;
  const auto is_long = [&](std::int64_t row) { return 2 * (at[row + 1] - at[row]) > 3 * target.entries; };
  for (std::int64_t row = 0; row < rows;) {
    if (is_long(row)) {
      items.cut(row, at[row], at[row + 1] - at[row], target.entries, target.entries);
      ++row;
      continue;
    }
    const std::int64_t first = row++;
    while (row < rows && row - first < target.rows && !is_long(row) &&
           at[row + 1] - at[first] <= target.entries)
      ++row;
    items.windows.push_back(
        {at[first], static_cast<std::int32_t>(first), static_cast<std::int32_t>(row - first)});
  }
  return items;
}

std::int64_t whole(std::int64_t x, std::int64_t step) { return (x + step - 1) / step * step; }

}  // namespace

UpdateHeader append_update(Schedule& schedule, std::span<const std::int64_t> row_ptr, DType dense,
                           std::int64_t n, const DeviceInfo& device) {
  const std::int64_t rows = std::ssize(row_ptr) - 1;
  const Items items = divide(row_ptr, targets(rows, row_ptr.back() - row_ptr.front(), device));
  reserve(schedule, items.windows, items.pieces, items.splits);
  UpdateHeader header;
  header.windows_at = append(schedule, items.windows);
  header.windows = std::ssize(items.windows);
  header.pieces_at = append(schedule, items.pieces);
  header.pieces = std::ssize(items.pieces);
  header.splits_at = append(schedule, items.splits);
  header.splits = std::ssize(items.splits);
  // For any number of lanes per row, those of a warp store the same number of sums of a slice.
  const int vector = csr_vector(dense);
  const CsrGeometry geometry = csr_geometry(n, vector);
  const std::int64_t sums = header.pieces * geometry.slices * 32 * vector;
  header.scratch = append_scratch(schedule, 2 + header.splits, sums * (dense == DType::f64 ? 8 : 4));
  return header;
}

std::int64_t update_weight_bytes(std::int64_t n, std::int64_t m, const UpdateMemory& memory) {
  return whole(n, 8) * whole(m, kColumnGroup) * memory.weight_bytes;
}

namespace {

std::int64_t block_bytes(std::int64_t n, std::int64_t m, const UpdateMemory& memory, int warps) {
  const std::int64_t window = kWindowRows * window_stride(n) * memory.sum_bytes;
  return update_weight_bytes(n, m, memory) + warps * (window + kWarpStageBytes);
}

/// Larger weights never fit, and their bytes would overflow.
constexpr std::int64_t kMaxColumns = 1 << 20;

constexpr int kWarps[] = {8, 16, 12, 4};

}  // namespace

UpdateShape update_shape(std::int64_t n, std::int64_t m, const UpdateMemory& memory,
                         const DeviceInfo& device) {
  UpdateShape best;
  if (n > kMaxColumns || m > kMaxColumns) return best;
  constexpr std::int64_t kReserved = 1024;  ///< per block, reserved by the system
  const auto most = static_cast<std::int64_t>(device.shared_per_block);
  for (const int warps : kWarps) {
    const std::int64_t bytes = block_bytes(n, m, memory, warps);
    if (bytes > most || 2 * warps > kPolicy.resident_warps) continue;
    const auto blocks = static_cast<int>(
        std::min((most + kReserved) / (bytes + kReserved), std::int64_t{kPolicy.resident_warps / warps}));
    if (blocks * warps > best.blocks * best.warps) best = {warps, blocks, bytes};
  }
  return best;
}

Status check_update(std::int64_t n, std::int64_t m, const UpdateMemory& memory, const DeviceInfo& device) {
  if (update_shape(n, m, memory, device).warps > 0) return {};
  const std::string least = n > kMaxColumns || m > kMaxColumns
                                ? "more than all"
                                : std::to_string(block_bytes(n, m, memory, 4)) + " bytes of";
  return fail(Errc::unsupported, "weights of " + std::to_string(n) + " x " + std::to_string(m) + " need " +
                                     least + " shared memory per block, but " + device.name + " has " +
                                     std::to_string(device.shared_per_block));
}

GradientHeader append_gradient(Schedule& schedule, std::int64_t rows, std::int64_t n, std::int64_t m,
                               DType dense, const DeviceInfo& device) {
  constexpr UpdateGradientPolicy kGradient;
  const std::int64_t tiles = gradient_tiles(n, m);
  const std::int64_t wanted =
      std::max<std::int64_t>(std::max(device.sm_count, 1) * kGradient.grid_blocks / tiles, 1);
  const std::int64_t most = std::max<std::int64_t>(rows / (kGradient.min_tiles * kGradientRows), 1);
  GradientHeader header;
  header.parts = std::min(wanted, most);
  header.rows_per_part = whole((rows + header.parts - 1) / header.parts, kGradientRows);
  const std::int64_t sums = header.parts * (tiles * kGradientTile * kGradientTile + m);
  header.scratch = append_scratch(schedule, 0, sums * (dense == DType::f64 ? 8 : 4));
  return header;
}

}  // namespace sptile::runtime::cuda
