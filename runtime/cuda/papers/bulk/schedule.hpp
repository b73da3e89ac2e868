// Division of bmat among persistent blocks, made on the host when planning (Voltrix-SpMM, USENIX ATC 2025,
// section 3.2). Plain C++.
//
// The rows of C, window after window and in each window column after column, are cut in shares of equal cost,
// one for each block. Input and output count: a tile costs what its rows of B take, a window what its rows of
// C take. A cut goes through the columns of a window where it must, between the segments of consumer warps;
// near an edge of the window it moves there. So no two blocks add to the same entry of C; the blocks on both
// sides of a cut read the tiles of the window, and each its own part of the rows of B.
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

/// What a block does: the rest of a window, whole windows, the beginning of a window. Each may be empty, all
/// zero.
inline constexpr int kBulkParts = 3;
using BulkShare = std::array<BulkPart, kBulkParts>;

/// What a device takes for a slice of 512 bytes of the columns of B, in units of its tiles.
struct BulkCosts {
  double tile = 1;
  double window = 2;  ///< rows of C written
};

/// Numbers that a device's profile may have for the kernel; those that it lacks are as above.
inline constexpr std::string_view kBulkCosts[] = {"tile_cost", "window_cost"};
BulkCosts bulk_costs(const ScheduleRequest& request);

/// Cuts the matrix in at most `count` shares that are not empty. O(count log windows).
std::vector<BulkShare> partition_columns(const formats::BmatView& a, int slice_segments, std::int64_t count,
                                         const BulkCosts& costs);

/// What launching reads; `..._at` are offsets in Schedule::bytes.
struct BulkHeader {
  std::int64_t shares_at = 0;
  int segments_most = 0;  ///< of a slice
  int slice_segments = 0;
  int slices_together = 0;
  int blocks = 0;  ///< for each slice of those that are multiplied together
  int stages = 0;
};

/// Slices of the columns, about equally wide.
struct BulkSlices {
  std::int64_t count;
  int segments;  ///< of one
};
BulkSlices bulk_slices(std::int64_t row_bytes, int segments_most);

/// Least row of B that is cut like one of `row_bytes`.
std::int64_t bulk_least_row_bytes(std::int64_t row_bytes, int segments_most);

/// Divides a product whose rows of B are whole pieces of 16 bytes, for a kernel whose lanes have
/// `entry_bytes` of the entries of a tile; nothing when the device has no room for two stages.
std::optional<BulkHeader> append_bulk(Schedule& schedule, const ScheduleRequest& request, int element_bytes,
                                      int entry_bytes);

}  // namespace sptile::runtime::cuda
