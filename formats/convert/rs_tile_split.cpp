#include "formats/convert/rs_tile_split.hpp"

#include <bit>

#include "formats/layout/rs_tile.hpp"

namespace sptile::formats {
namespace {

/// Returns value_offset: the bits of the tiles of each window, summed.
Buffer<std::int64_t> count_values(const Buffer<std::int32_t>& row_window_offset,
                                  const Buffer<std::uint64_t>& bitmap) {
  Buffer<std::int64_t> value_offset(row_window_offset.size());
  value_offset[0] = 0;
  for (std::int64_t w = 1; w < value_offset.size(); ++w) {
    value_offset[w] = value_offset[w - 1];
    for (std::int64_t t = row_window_offset[w - 1]; t < row_window_offset[w]; ++t)
      value_offset[w] += std::popcount(bitmap[t]);
  }
  return value_offset;
}

}  // namespace

SplitWindows split_windows(std::span<const std::int32_t> starts,
                           const Buffer<std::int32_t>& row_window_offset, const Buffer<std::uint64_t>& bitmap,
                           const RsTileSetting& setting) {
  const auto windows = static_cast<std::int64_t>(starts.size());
  SplitWindows result;
  result.limit = split_limit(bitmap.size(), windows, setting);
  const auto pieces_of = [&](std::int64_t w) {
    const std::int64_t tiles = row_window_offset[w + 1] - row_window_offset[w];
    return (tiles + result.limit - 1) / result.limit;
  };
  std::int64_t total = 0;
  for (std::int64_t w = 0; w < windows; ++w) total += pieces_of(w);

  result.row_window_id = Buffer<std::int32_t>(total);
  result.row_window_offset = Buffer<std::int32_t>(total + 1);
  result.window_flags = Buffer<std::uint8_t>(total);
  std::int64_t out = 0;
  for (std::int64_t w = 0; w < windows; ++w) {
    const std::int64_t pieces = pieces_of(w), first = row_window_offset[w];
    const std::int64_t tiles = row_window_offset[w + 1] - first;
    for (std::int64_t p = 0; p < pieces; ++p, ++out) {
      result.row_window_id[out] = starts[static_cast<std::size_t>(w)];
      result.row_window_offset[out] = static_cast<std::int32_t>(first + tiles * p / pieces);
      result.window_flags[out] = pieces > 1 ? kRsTileSplit : 0;
    }
    result.split += pieces > 1;
    result.pieces += pieces > 1 ? pieces : 0;
  }
  result.row_window_offset[total] = row_window_offset[windows];
  result.value_offset = count_values(result.row_window_offset, bitmap);
  return result;
}

Parameters SplitWindows::parameters() const { return split_parameters(limit, split, pieces); }

}  // namespace sptile::formats
