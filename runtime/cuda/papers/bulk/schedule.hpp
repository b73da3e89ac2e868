// Division of bmat among persistent blocks, computed on the host (Voltrix-SpMM, USENIX ATC 2025, section
// 3.2). Plain C++.
//
// The rows of C, window after window and in each window column after column, are divided into shares of equal
// cost, one per block. Input and output count: a tile costs its rows of B, a window its rows of C. A cut
// within a window is between the segments of consumer warps; near an edge of the window it moves there.
// Therefore no two blocks add to the same element of C; the blocks on both sides of a cut read the tiles of
// the window, with separate parts of the rows of B.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/layout/bmat.hpp"
#include "runtime/cuda/device_kernel.hpp"
#include "runtime/cuda/families/tile/schedule.hpp"
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

/// Costs of a device for a slice of 512 bytes of the columns of B, in units of its tiles.
struct BulkCosts {
  double tile = 1;
  double window = 2;  ///< written rows of C
};

/// Names of costs in the device's profile; missing ones have the defaults above.
inline constexpr std::string_view kBulkCosts[] = {"tile_cost", "window_cost"};
BulkCosts bulk_costs(const ScheduleRequest& request);

/// Divides the matrix into at most `count` nonempty shares. O(count log windows).
std::vector<BulkShare> partition_columns(const formats::BmatView& a, int slice_segments, std::int64_t count,
                                         const BulkCosts& costs);

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

/// Divides a product whose rows of B consist of full 16-byte units, for a kernel whose lanes have
/// `entry_bytes` of the entries of a tile; nullopt if two stages do not fit on the device.
std::optional<BulkHeader> append_bulk(Schedule& schedule, const ScheduleRequest& request, int element_bytes,
                                      int entry_bytes);

}  // namespace sptile::runtime::cuda
