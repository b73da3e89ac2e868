// Libra's balance on the device (section 4.5, Algorithm 1): one thread per window cuts its tiles (step 1),
// one thread per residual row its entries (step 3). Step 2, the ids of the columns in tiles, belongs to the
// conversion. The result equals that of cut_windows and flag_atomic.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/layout/libra.hpp"
#include "runtime/cuda/convert/bits.hpp"
#include "runtime/cuda/convert/format_memory.hpp"
#include "runtime/cuda/papers/libra_streams/balance.hpp"

namespace sptile::runtime::cuda {

/// Arrays of a matrix in device memory, and the sizes of segments.
struct SegmentSource {
  const std::int32_t* window_tile;  ///< windows + 1: first tile of each window
  const std::int32_t* row_id;       ///< residual rows
  const std::int64_t* row_entry;    ///< rows + 1: first entry of each residual row
  std::int64_t windows, rows;
  std::int64_t tiles;  ///< per segment of a window
  LibraSizes sizes;

  SPTILE_HOST_DEVICE std::int64_t row_entries(std::int64_t row) const {
    return row_entry[row + 1] - row_entry[row];
  }
};

/// Counts the segments of each window, with a final 0.
struct CountWindowSegments {
  SegmentSource source;
  std::uint32_t* counts;

  SPTILE_HOST_DEVICE void operator()(std::int64_t window) const {
    counts[window] = 0;
    if (window == source.windows) return;
    const std::int64_t tiles = source.window_tile[window + 1] - source.window_tile[window];
    counts[window] = static_cast<std::uint32_t>(segments_of(tiles, source.tiles));
  }
};

/// Counts the segments of each residual row, with a final 0.
struct CountRowSegments {
  SegmentSource source;
  std::uint32_t* counts;

  SPTILE_HOST_DEVICE void operator()(std::int64_t row) const {
    counts[row] = 0;
    if (row == source.rows) return;
    const std::int64_t entries = source.row_entries(row);
    counts[row] = is_short_row(entries, source.sizes)
                      ? 1
                      : static_cast<std::uint32_t>(segments_of(entries, source.sizes.entries));
  }
};

/// Writes the segments of a window and sets its parts.
struct WriteWindowSegments {
  SegmentSource source;
  const std::uint32_t* first;  ///< windows + 1: first segment of each window
  std::int32_t *window_offset, *cur_window;
  std::uint32_t* parts;

  SPTILE_HOST_DEVICE void operator()(std::int64_t window) const {
    const std::uint32_t begin = first[window];
    if (window == source.windows) {
      window_offset[begin] = source.window_tile[window];
      return;
    }
    const std::uint32_t count = first[window + 1] - begin;
    for (std::uint32_t s = 0; s < count; ++s) {
      window_offset[begin + s] =
          source.window_tile[window] + static_cast<std::int32_t>(s == 0 ? 0 : s * source.tiles);
      cur_window[begin + s] = static_cast<std::int32_t>(window);
    }
    parts[window] = (count > 0 ? kLibraTiles : 0) | (count > 1 ? kLibraCut : 0);
  }
};

/// Writes the segments of a residual row and adds to the parts of its window.
struct WriteRowSegments {
  SegmentSource source;
  const std::uint32_t* first;  ///< rows + 1: first segment of each row
  std::int64_t* row_offset;
  std::int32_t* cur_row;
  std::uint8_t *is_short, *is_cut;  ///< per segment: the row is short, has other segments
  std::uint32_t* parts;

  SPTILE_HOST_DEVICE void operator()(std::int64_t row) const {
    const std::uint32_t begin = first[row];
    if (row == source.rows) {
      row_offset[begin] = source.row_entry[row];
      return;
    }
    const std::uint32_t count = first[row + 1] - begin;
    const bool short_row = is_short_row(source.row_entries(row), source.sizes);
    for (std::uint32_t s = 0; s < count; ++s) {
      row_offset[begin + s] = source.row_entry[row] + (s == 0 ? 0 : s * source.sizes.entries);
      cur_row[begin + s] = source.row_id[row];
      is_short[begin + s] = short_row ? 1 : 0;
      is_cut[begin + s] = count > 1 ? 1 : 0;
    }
    atomic_or(parts + source.row_id[row] / kLibraWindowRows, kLibraRows | (count > 1 ? kLibraCut : 0u));
  }
};

struct FlagWindowSegments {
  const std::int32_t* cur_window;
  const std::uint32_t* parts;
  std::uint8_t* flags;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::uint32_t of_window = parts[cur_window[i]];
    flags[i] = segment_flags(is_shared(of_window, LibraMode::sequential),
                             is_shared(of_window, LibraMode::two_streams));
  }
};

struct FlagRowSegments {
  const std::int32_t* cur_row;
  const std::uint8_t* is_cut;
  const std::uint32_t* parts;
  std::uint8_t* flags;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::uint32_t of_window = parts[cur_row[i] / kLibraWindowRows];
    const bool own = (of_window & kLibraTiles) == 0;  // in a window without tiles, rows share nothing
    const bool cut = is_cut[i] != 0;
    flags[i] = segment_flags(own ? cut : is_shared(of_window, LibraMode::sequential),
                             own ? cut : is_shared(of_window, LibraMode::two_streams));
  }
};

struct SegmentCounts {
  std::uint32_t *window = nullptr, *row = nullptr, *parts = nullptr;

  void place(Arena& arena, std::int64_t windows, std::int64_t rows) {
    arena.take(window, windows + 1);
    arena.take(row, rows + 1);
    arena.take(parts, windows);
  }
};

struct SegmentArrays {
  std::int32_t *window_offset = nullptr, *cur_window = nullptr, *cur_row = nullptr;
  std::int64_t* row_offset = nullptr;
  std::uint8_t *is_short = nullptr, *is_cut = nullptr, *flags = nullptr;

  void place(Arena& arena, std::int64_t window_segments, std::int64_t row_segments) {
    arena.take(window_offset, window_segments + 1);
    arena.take(cur_window, window_segments);
    arena.take(row_offset, row_segments + 1);
    arena.take(cur_row, row_segments);
    arena.take(is_short, row_segments);
    arena.take(is_cut, row_segments);
    arena.take(flags, window_segments + row_segments);
  }
};

template <class T, class Run>
std::vector<T> download_all(Run& run, const T* from, std::int64_t count) {
  std::vector<T> host(static_cast<std::size_t>(count));
  run.download(host.data(), from, count);
  return host;
}

/// Cuts the segments of a matrix whose arrays are in device memory, and returns them to the host. Memory
/// traffic is about 20 bytes per window, residual row and segment.
template <class Run>
Result<DeviceBalance> balance_on(Run& run, const formats::LibraView& a, const LibraSizes& sizes,
                                 int block_tiles) {
  const SegmentSource source{a.row_window_offset.data(),
                             a.residual_row_id.data(),
                             a.residual_row_offset.data(),
                             std::ssize(a.row_window_offset) - 1,
                             std::ssize(a.residual_row_id),
                             sizes.blocks * block_tiles,
                             sizes};
  const std::int64_t windows = source.windows, rows = source.rows;
  Workspace<SegmentCounts> counts;
  if (Status s = counts.make(run, windows, rows); !s) return tl::unexpected(s.error());
  run.each(windows + 1, CountWindowSegments{source, counts.window});
  run.each(rows + 1, CountRowSegments{source, counts.row});
  run.sum(counts.window, windows + 1);
  run.sum(counts.row, rows + 1);
  const auto totals = download_numbers(run, {counts.window + windows, counts.row + rows});
  if (!totals) return tl::unexpected(totals.error());
  const auto [window_segments, row_segments] = *totals;
  Workspace<SegmentArrays> to;
  if (Status s = to.make(run, window_segments, row_segments); !s) return tl::unexpected(s.error());
  run.each(windows + 1,
           WriteWindowSegments{source, counts.window, to.window_offset, to.cur_window, counts.parts});
  run.each(rows + 1, WriteRowSegments{source, counts.row, to.row_offset, to.cur_row, to.is_short, to.is_cut,
                                      counts.parts});
  run.each(window_segments, FlagWindowSegments{to.cur_window, counts.parts, to.flags});
  run.each(row_segments, FlagRowSegments{to.cur_row, to.is_cut, counts.parts, to.flags + window_segments});
  DeviceBalance result;
  result.balance = {download_all(run, to.window_offset, window_segments + 1),
                    download_all(run, to.cur_window, window_segments),
                    download_all(run, to.row_offset, row_segments + 1),
                    download_all(run, to.cur_row, row_segments),
                    download_all(run, to.is_short, row_segments),
                    {}};
  result.flags = download_all(run, to.flags, window_segments + row_segments);
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  return result;
}

}  // namespace sptile::runtime::cuda
