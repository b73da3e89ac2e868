// Libra's hybrid balance (section 4.3): only windows with many tiles and rows with many residual entries are
// split into segments of limited length, whose sums are added by atomic operations. Short rows are a separate
// class, with a kernel without staging. Plain C++.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "formats/core/error.hpp"
#include "formats/layout/libra.hpp"
#include "runtime/cuda/device/qualifiers.hpp"

namespace sptile::runtime::cuda {

/// Lengths of segments, with the values of the paper (Ts, Cs and Short_len).
struct LibraSizes {
  std::int64_t blocks = 16;       ///< TC blocks per segment of a window: 8x8, 8x16 in f16
  std::int64_t entries = 32;      ///< per segment of a long row
  std::int64_t short_length = 3;  ///< rows with fewer entries are short (Algorithm 1) and never split
};
SPTILE_HOST_DEVICE bool is_short_row(std::int64_t entries, const LibraSizes& sizes) {
  return entries < sizes.short_length;
}
/// Returns the number of segments of up to `max` tiles or entries.
SPTILE_HOST_DEVICE std::int64_t segments_of(std::int64_t length, std::int64_t max) {
  return length / max + (length % max != 0 ? 1 : 0);
}

/// Nothing is split; short rows remain a class.
inline constexpr LibraSizes kLibraUncut = {.blocks = INT64_MAX / 2, .entries = INT64_MAX};

/// Order of the two parts: the residual part after the TC part, or concurrently.
enum class LibraMode { sequential, two_streams };

inline constexpr int kLibraWindowRows = 8;

/// Bits of a window that determine its flags: it has tiles, residual rows, and one of these is split.
inline constexpr std::uint32_t kLibraTiles = 1, kLibraRows = 2, kLibraCut = 4;

/// Returns whether segments of a window with tiles add to the same rows of C.
SPTILE_HOST_DEVICE bool is_shared(std::uint32_t window, LibraMode mode) {
  const std::uint32_t reasons = kLibraCut | (mode == LibraMode::two_streams ? kLibraRows : 0);
  return (window & kLibraTiles) != 0 && (window & reasons) != 0;
}

/// The five arrays of the paper, and the class of each residual segment. Segments of the TC part are first in
/// `atomic`, then those of the residual part.
struct LibraBalance {
  std::vector<std::int32_t> window_offset;  ///< first tile of each segment, and the end
  std::vector<std::int32_t> cur_window;     ///< window of each segment
  std::vector<std::int64_t> row_offset;     ///< first residual entry of each segment, and the end
  std::vector<std::int32_t> cur_row;        ///< row of each segment
  std::vector<std::uint8_t> is_short;       ///< per residual segment: 1 for a short row
  std::vector<std::uint8_t> atomic;         ///< 1: others add to the same rows of C
};

/// Splits windows and rows, with `block_tiles` tiles per TC block; `atomic` stays empty. O(windows + residual
/// rows + segments).
LibraBalance cut_windows(const formats::LibraView& a, const LibraSizes& sizes, int block_tiles);

/// Sets `atomic`. If the parts run in sequence, all segments of a window with tiles are atomic if any of its
/// tiles or rows is split; if they run concurrently, also if it has both tiles and rows. In a window without
/// tiles, those of split rows are atomic.
void flag_atomic(LibraBalance& balance, std::int64_t windows, LibraMode mode);

/// Flags of a segment for both modes: bit 0 is set if others add to its rows in sequential mode, bit 1 with
/// two streams.
SPTILE_HOST_DEVICE std::uint8_t segment_flags(bool sequential, bool two_streams) {
  return static_cast<std::uint8_t>((sequential ? 1 : 0) | (two_streams ? 2 : 0));
}

/// A balance from the device: `atomic` is empty, and `flags` are in its order.
struct DeviceBalance {
  LibraBalance balance;
  std::vector<std::uint8_t> flags;

  /// Sets `atomic` as flag_atomic does.
  void set_mode(LibraMode mode);
};

/// Cuts the segments of a matrix whose arrays are in the memory of the current device, with the result of
/// cut_windows. Synchronizes with the default stream. Errc::device if memory is short.
Result<DeviceBalance> balance_on_device(const formats::LibraView& a, const LibraSizes& sizes,
                                        int block_tiles);

/// Returns the rows that must be beta * C before any part runs, ascending: those with atomic additions, and
/// those without segments.
std::vector<std::int32_t> rows_to_scale(const LibraBalance& balance, std::int64_t rows);

/// Occupancy ratios from which one part alone saturates the device; the defaults are those of the paper for
/// an H100 (section 4.4.1).
struct LibraOccupancy {
  double tiles = 3.91, rows = 38.27;
};

/// Occupancy ratios of both parts: blocks over the blocks that fit on the device (equation 7).
struct LibraRatios {
  double tiles = 0, rows = 0;
};

/// Blocks of one kernel, and the number of them that are resident on a multiprocessor.
struct LibraGrid {
  std::int64_t blocks = 0;
  int per_sm = 1;

  /// Implements equation 7.
  [[nodiscard]] double ratio(int sm_count) const {
    return static_cast<double>(blocks) / (std::max(sm_count, 1) * std::max(per_sm, 1));
  }
};

/// Implements equation 8.
inline LibraMode choose_mode(const LibraRatios& ratios, const LibraOccupancy& thresholds = {}) {
  const double fuller = std::max(ratios.tiles / thresholds.tiles, ratios.rows / thresholds.rows);
  return fuller < 1 ? LibraMode::two_streams : LibraMode::sequential;
}

}  // namespace sptile::runtime::cuda
