// Splits long windows of RS-Tile into pieces (RSH-SpMM, section 3.3.3).
#pragma once

#include <cstdint>
#include <span>

#include "formats/core/buffer.hpp"
#include "formats/core/parameters.hpp"
#include "formats/layout/rs_tile_rules.hpp"

namespace sptile::formats {

/// Window arrays of RS-Tile. A window with more than `limit` tiles is split, between tiles, into pieces of
/// nearly equal size.
struct SplitWindows {
  Buffer<std::int32_t> row_window_id;
  Buffer<std::int32_t> row_window_offset;
  Buffer<std::int64_t> value_offset;
  Buffer<std::uint8_t> window_flags;
  std::int64_t limit = 0;
  std::int64_t split = 0;   ///< number of windows that were split
  std::int64_t pieces = 0;  ///< number of pieces of these windows

  /// Describes the split for JSON output and bundles.
  [[nodiscard]] Parameters parameters() const;
};

/// Splits the windows that start at the given rows. row_window_offset has windows + 1 elements; bitmap has
/// one mask per tile. The limit is split_limit of the setting. O(windows + tiles).
SplitWindows split_windows(std::span<const std::int32_t> starts,
                           const Buffer<std::int32_t>& row_window_offset, const Buffer<std::uint64_t>& bitmap,
                           const RsTileSetting& setting = {});

}  // namespace sptile::formats
