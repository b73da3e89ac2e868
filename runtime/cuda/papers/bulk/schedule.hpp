// Schedule of bmat in persistent blocks (Voltrix-SpMM, USENIX ATC 2025, section 3.2), computed on the host:
// the shares of the blocks (partition.hpp) and the shape of a block. The blocks on both sides of a cut inside
// a window read the tiles of the window, with separate parts of the rows of B. Plain C++.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/layout/bmat.hpp"
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/families/tile/schedule.hpp"
#include "runtime/cuda/papers/bulk/partition.hpp"
#include "runtime/cuda/papers/bulk/shape.hpp"

namespace sptile::runtime::cuda {

/// A part of a block's share: the segments [segment_begin, segment_end) of each slice, for a run of windows.
struct alignas(16) BulkPart {
  std::int64_t value_begin;  ///< first entry of the first tile
  std::int32_t tile_begin, tile_end;
  std::int32_t window_begin, window_end;
  std::int32_t segment_begin, segment_end;
};
static_assert(sizeof(BulkPart) == 32);

/// Work of a block: the rest of a window, complete windows, the beginning of a window. Each may be empty, all
/// zero.
inline constexpr int kBulkParts = 3;
using BulkShare = std::array<BulkPart, kBulkParts>;

/// Names of BulkCosts in the device's profile; missing ones have their defaults.
inline constexpr std::string_view kBulkCosts[] = {"tile_cost", "window_cost", "fixed_cost"};
BulkCosts bulk_costs(const ScheduleRequest& request);

/// Divides the matrix into at most `count` nonempty shares. O(count log windows).
std::vector<BulkShare> partition_columns(const formats::BmatView& a, int slice_segments, std::int64_t count,
                                         const BulkCosts& costs, BulkDivision divide = divide_by_targets);

/// Launch parameters; `..._at` are offsets in Schedule::bytes.
struct BulkHeader {
  std::int64_t shares_at = 0;
  int segments_most = 0;  ///< maximum per slice
  int slice_segments = 0;
  int slices_together = 0;
  int blocks = 0;  ///< for each concurrent slice
  int stages = 0;
};

/// Slices of the columns, about equally wide.
struct BulkSlices {
  std::int64_t count;
  int segments;  ///< per slice
};
BulkSlices bulk_slices(std::int64_t row_bytes, int segments_most);

/// Returns the minimum row of B with the same division as one of `row_bytes`.
std::int64_t bulk_least_row_bytes(std::int64_t row_bytes, int segments_most);

/// Properties of a kernel that its schedule depends on.
struct BulkTraits {
  int tile_bytes;  ///< words or decoded entries of a tile in a stage
  BulkDivision divide = divide_by_targets;
  int max_stages = kBulkStagesMost;
};

/// Divides a product whose rows of B consist of full 16-byte units; nullopt if two stages do not fit on the
/// device.
std::optional<BulkHeader> append_bulk(Schedule& schedule, const ScheduleRequest& request, int element_bytes,
                                      const BulkTraits& traits);

}  // namespace sptile::runtime::cuda
