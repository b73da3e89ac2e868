// Condenses the windows of a CSR matrix into tiles, the first step of the conversion to every tile format.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/convert/tile_bits.hpp"
#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"
#include "formats/core/error.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/core/progress.hpp"
#include "formats/core/value_types.hpp"
#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

/// Converts an index for std::span and std::vector.
constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// A range of windows that one task converts. The partition depends only on the matrix, so that the result
/// does not depend on the number of threads.
struct Chunk {
  std::int64_t first_window, end_window;
  std::int64_t staged_tile;  ///< first tile of the space reserved for the chunk
  std::int64_t tiles = 0;
  std::int64_t first_tile = 0;
  std::int64_t first_entry, entries;
};

/// Windows of 8 or 16 rows with their distinct columns in groups of 8. `columns` is stored unchanged by the
/// formats, and so is `masks` for windows of 8 rows; a converter moves these arrays out if it needs no
/// others.
struct Condensed {
  int height = 0;
  std::span<const std::int32_t> starts;  ///< first row of each window
  Buffer<std::int32_t>
      row_window_offset;                ///< windows + 1: first tile of each window, as stored by the formats
  std::int64_t tiles = 0, entries = 0;  ///< in all windows
  std::vector<Chunk> chunks;
  Buffer<std::int32_t> columns;  ///< 8 per tile
  Buffer<std::uint64_t> masks;   ///< height / 8 per tile: rows 0 to 7, then rows 8 to 15

  [[nodiscard]] int masks_per_tile() const { return height / 8; }
  [[nodiscard]] std::int64_t tiles_of(std::int64_t window) const {
    return row_window_offset[window + 1] - row_window_offset[window];
  }
  [[nodiscard]] const std::uint64_t* masks_of(const Chunk& chunk) const {
    return masks.data() + chunk.first_tile * masks_per_tile();
  }

  /// Calls f(chunk) for all chunks, in parallel.
  template <class F>
  void for_each_chunk(const F& f) const {
    parallel::loop(std::size_t{0}, chunks.size(), [&](std::size_t i) { f(chunks[i]); });
  }
};

/// Returns the first rows of consecutive windows of `height` rows that cover all rows.
Buffer<std::int32_t> fixed_windows(std::int64_t rows, int height);

/// Condenses the windows of `height` rows (8 or 16) that start at the given rows, which must ascend without
/// overlap. Errc::unsupported if there are more than 2^31 - 1 tiles; Errc::io when cancelled. Parallel; O(nnz
/// * log2(height)).
Result<Condensed> condense(const CsrView& a, std::span<const std::int32_t> starts, int height,
                           const FormatLayout& layout, Progress* progress);

/// Errc::unsupported if the number of nonzeros exceeds the 32-bit tile offsets of the array `offsets`.
Status check_offsets_fit(const CsrView& a, const FormatLayout& layout, const char* offsets = "tc_offset");

/// Errc::unsupported if the number of tiles exceeds row_window_offset.
Status check_tiles_fit(std::int64_t tiles, const FormatLayout& layout);

/// Returns the first nonzero of each tile, followed by the number of nonzeros: tiles + 1 offsets. Parallel.
Buffer<std::uint32_t> tile_offsets(const Condensed& tiles);

/// Mean nonzeros of a TilePart above which copying runs of a row is faster than copying single values.
inline constexpr std::int64_t kDensePart = 4;

/// Copies the values of one chunk to out[0...]; see copy_values.
template <class Word, class PartsOf>
void copy_chunk_values(const CsrView& a, const Condensed& tiles, const Chunk& chunk, const PartsOf& parts_of,
                       Word* out) {
  const auto* values = static_cast<const Word*>(a.values.data);
  const auto row_start = [&](std::int64_t row) {
    return a.row_ptr[static_cast<std::size_t>(std::min(row, a.rows))];
  };
  const std::uint64_t* masks = tiles.masks_of(chunk);
  const Word* const end = out + chunk.entries;
  constexpr auto parts_per_tile = static_cast<std::int64_t>(std::tuple_size_v<decltype(parts_of(masks))>);
  const bool dense = chunk.entries > kDensePart * parts_per_tile * chunk.tiles;
  for (std::int64_t w = chunk.first_window; w < chunk.end_window; ++w) {
    const std::int64_t first = tiles.starts[static_cast<std::size_t>(w)];
    const Word* rows[16];
    for (int r = 0; r < tiles.height; ++r) rows[r] = values + row_start(first + r);
    const bool by_runs = dense && row_start(first + tiles.height) + 8 <= a.nnz();
    for (std::int64_t t = tiles.tiles_of(w); t > 0; --t, masks += tiles.masks_per_tile())
      for (const TilePart& part : parts_of(masks))
        out = by_runs && end - out >= 64 ? copy_values_in_runs(part.mask, rows + part.first_row, out)
                                         : copy_values(part.mask, rows + part.first_row, out);
  }
}

/// Copies all values in the order of the format; absent for a pattern matrix. parts_of(masks) lists the parts
/// of the tile with these masks. Parallel.
template <class PartsOf>
Array copy_values(const CsrView& a, const Condensed& tiles, const PartsOf& parts_of) {
  if (a.is_pattern()) return {};
  Array values(a.values.dtype, tiles.entries);
  visit_word(a.values.dtype, [&](auto word) {
    auto* out = static_cast<decltype(word)*>(values.data());
    tiles.for_each_chunk(
        [&](const Chunk& chunk) { copy_chunk_values(a, tiles, chunk, parts_of, out + chunk.first_entry); });
  });
  return values;
}

}  // namespace sptile::formats
