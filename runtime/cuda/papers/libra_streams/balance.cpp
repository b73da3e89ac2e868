#include "runtime/cuda/papers/libra_streams/balance.hpp"

#include <algorithm>

namespace sptile::runtime::cuda {
namespace {

/// Returns whether the segment has a neighbour of the same window or row.
bool is_cut(const std::vector<std::int32_t>& owner, std::size_t i) {
  return (i > 0 && owner[i - 1] == owner[i]) || (i + 1 < owner.size() && owner[i + 1] == owner[i]);
}

std::size_t window_of(std::int32_t row) { return static_cast<std::size_t>(row / kLibraWindowRows); }

}  // namespace

LibraBalance cut_windows(const formats::LibraView& a, const LibraSizes& sizes, int block_tiles) {
  const std::int64_t tiles = sizes.blocks * block_tiles;
  LibraBalance balance;
  for (std::size_t w = 0; w + 1 < a.row_window_offset.size(); ++w)
    for (std::int64_t tile = a.row_window_offset[w], end = a.row_window_offset[w + 1]; tile < end;
         tile += std::min(tiles, end - tile)) {
      balance.window_offset.push_back(static_cast<std::int32_t>(tile));
      balance.cur_window.push_back(static_cast<std::int32_t>(w));
    }
  balance.window_offset.push_back(a.row_window_offset.back());
  for (std::size_t r = 0; r < a.residual_row_id.size(); ++r) {
    const std::int64_t begin = a.residual_row_offset[r], entries = a.residual_row_offset[r + 1] - begin;
    const bool is_short = is_short_row(entries, sizes);
    const std::int64_t count = is_short ? 1 : segments_of(entries, sizes.entries);
    for (std::int64_t s = 0; s < count; ++s) {
      balance.row_offset.push_back(begin + s * (count > 1 ? sizes.entries : 0));
      balance.cur_row.push_back(a.residual_row_id[r]);
      balance.is_short.push_back(is_short ? 1 : 0);
    }
  }
  balance.row_offset.push_back(a.residual_row_offset.back());
  return balance;
}

void flag_atomic(LibraBalance& balance, std::int64_t windows, LibraMode mode) {
  std::vector<std::uint32_t> parts(static_cast<std::size_t>(windows));
  const std::size_t tile_segments = balance.cur_window.size(), row_segments = balance.cur_row.size();
  for (std::size_t i = 0; i < tile_segments; ++i)
    parts[static_cast<std::size_t>(balance.cur_window[i])] |=
        kLibraTiles | (is_cut(balance.cur_window, i) ? kLibraCut : 0);
  for (std::size_t i = 0; i < row_segments; ++i)
    parts[window_of(balance.cur_row[i])] |= kLibraRows | (is_cut(balance.cur_row, i) ? kLibraCut : 0);
  balance.atomic.resize(tile_segments + row_segments);
  for (std::size_t i = 0; i < tile_segments; ++i)
    balance.atomic[i] = is_shared(parts[static_cast<std::size_t>(balance.cur_window[i])], mode) ? 1 : 0;
  for (std::size_t i = 0; i < row_segments; ++i) {
    const std::uint32_t window = parts[window_of(balance.cur_row[i])];
    const bool has_tiles = (window & kLibraTiles) != 0;
    balance.atomic[tile_segments + i] =
        (has_tiles ? is_shared(window, mode) : is_cut(balance.cur_row, i)) ? 1 : 0;
  }
}

void DeviceBalance::set_mode(LibraMode mode) {
  const std::uint8_t bit =
      mode == LibraMode::sequential ? segment_flags(true, false) : segment_flags(false, true);
  balance.atomic.resize(flags.size());
  for (std::size_t i = 0; i < flags.size(); ++i) balance.atomic[i] = (flags[i] & bit) != 0 ? 1 : 0;
}

std::vector<std::int32_t> rows_to_scale(const LibraBalance& balance, std::int64_t rows) {
  std::vector<bool> wanted(static_cast<std::size_t>(rows), true);  // rows without segments remain set
  const std::size_t tile_segments = balance.cur_window.size();
  for (std::size_t i = 0; i < balance.cur_row.size(); ++i)
    wanted[static_cast<std::size_t>(balance.cur_row[i])] = balance.atomic[tile_segments + i] != 0;
  for (std::size_t i = 0; i < tile_segments; ++i) {  // exclusive segments, which write all their rows
    const std::int64_t first = kLibraWindowRows * balance.cur_window[i],
                       end = std::min(first + kLibraWindowRows, rows);
    for (std::int64_t row = first; row < end; ++row)
      wanted[static_cast<std::size_t>(row)] = balance.atomic[i] != 0;
  }
  std::vector<std::int32_t> list;
  for (std::size_t row = 0; row < wanted.size(); ++row)
    if (wanted[row]) list.push_back(static_cast<std::int32_t>(row));
  return list;
}

}  // namespace sptile::runtime::cuda
