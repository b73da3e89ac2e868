// Division of SDDMM among warps, computed on the host. Plain C++.
//
// Every entry has a separate result, so warps need no reduction: windows are divided into items with about
// the same number of tiles, and entries in rows into runs of equal length, independent of the ends of rows
// (RoDe, PPoPP 2024, section 4.1, splits rows into segments of 32; here short rows share a run, too).
#pragma once

#include <cstdint>

#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime::cuda {

/// Some tiles of one window: the work of one warp.
struct alignas(8) SddmmItem {
  std::int64_t value_begin;  ///< first entry of the first tile
  std::int32_t tile_begin, tile_end;
  std::int32_t row;  ///< first row of the window
  std::int32_t unused = 0;
  friend bool operator==(const SddmmItem&, const SddmmItem&) = default;
};
static_assert(sizeof(SddmmItem) == 24);

/// Launch parameters; `..._at` are offsets in Schedule::bytes, -1: the format's own array.
struct SddmmHeader {
  std::int64_t items_at = 0, item_count = 0;
  std::int64_t masks_at = -1;       ///< 16-byte masks computed for me_tcf
  std::int64_t row_offset_at = -1;  ///< row offsets for formats with row classes
  std::int64_t first_row_at = 0;    ///< per run: index of the row of its first entry
  std::int64_t runs = 0, rounds = 0;
};

/// Divides the tiles and the rows of a format of any layout. O(windows + items + runs log rows); me_tcf
/// O(nnz) for its masks.
Schedule schedule_sddmm(const ScheduleRequest& request);

/// The same without masks, for kernels that decode me_tcf.
Schedule schedule_sddmm_without_masks(const ScheduleRequest& request);

/// Only the bytes are stored: items follow from the matrix and the device.
extern const ScheduleStore kSddmmStore;

}  // namespace sptile::runtime::cuda
