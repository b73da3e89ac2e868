// Conversion of tiles back to CSR: the inverse of condense.hpp, shared by all tile formats.
#pragma once

#include <algorithm>
#include <cstdint>

#include "formats/convert/tile_bits.hpp"
#include "formats/core/csr.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/core/value_types.hpp"
#include "formats/layout/format_layout.hpp"

namespace sptile::formats {

// A Tiles type describes the tiles of a format:
//   std::int64_t windows() const;
//   std::int64_t first_row(std::int64_t window) const; equal for consecutive pieces of a window
//   std::int64_t first_tile(std::int64_t window) const; for windows(): the number of tiles
//   std::int64_t first_value(std::int64_t window) const;
//   auto parts(std::int64_t tile) const; TileParts in the order of the values
//   const std::int32_t* columns(std::int64_t tile) const;
//   ArrayView values() const;

/// Calls f(first, end) for each range of windows with the same rows, in parallel.
template <class Tiles, class F>
void for_each_window_group(const Tiles& tiles, const F& f) {
  parallel::loop(std::int64_t{0}, tiles.windows(), [&](std::int64_t w) {
    if (w > 0 && tiles.first_row(w) == tiles.first_row(w - 1)) return;  // part of the previous group
    std::int64_t end = w + 1;
    while (end < tiles.windows() && tiles.first_row(end) == tiles.first_row(w)) ++end;
    f(w, end);
  });
}

/// Adds the nonzeros of each row to row_counts[row].
template <class Tiles>
void count_row_entries(const Tiles& tiles, std::int64_t* row_counts) {
  for_each_window_group(tiles, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t t = tiles.first_tile(first); t < tiles.first_tile(end); ++t)
      for (const TilePart& part : tiles.parts(t))
        for (int r = 0; r < 8; ++r)
          if (const int count = kBitsOfByte[part.mask >> (8 * r) & 0xFF]; count > 0)
            row_counts[tiles.first_row(first) + part.first_row + r] += count;
  });
}

/// Writes the columns and values of all rows; a.row_ptr must be set.
template <class Word, class Tiles>
void fill_rows(const Tiles& tiles, Csr& a) {
  auto* values = static_cast<Word*>(a.values.data());  // null for a pattern matrix
  for_each_window_group(tiles, [&](std::int64_t first, std::int64_t end) {
    std::int64_t next[16];  // position of each row's next nonzero
    for (int r = 0; r < 16; ++r) next[r] = a.row_ptr[std::min(tiles.first_row(first) + r, a.rows)];
    std::int64_t from = tiles.first_value(first);
    for (std::int64_t t = tiles.first_tile(first); t < tiles.first_tile(end); ++t)
      for (const TilePart& part : tiles.parts(t))
        for (std::uint64_t mask = part.mask; mask != 0; mask &= mask - 1, ++from) {
          const int bit = std::countr_zero(mask);
          const std::int64_t to = next[part.first_row + bit / 8]++;
          a.col_idx[to] = tiles.columns(t)[bit % 8];
          if (values != nullptr) values[to] = static_cast<const Word*>(tiles.values().data)[from];
        }
  });
}

/// Converts row_ptr[r + 1] = nonzeros of row r to offsets.
inline void number_entries(Csr& a) {
  a.row_ptr[0] = 0;
  for (std::int64_t r = 0; r < a.rows; ++r) a.row_ptr[r + 1] += a.row_ptr[r];
}

/// Allocates a matrix for the nonzeros of `view`; row_ptr is zero.
inline Csr empty_csr(const FormatView& view) {
  Csr a{view.rows, view.cols, Buffer<std::int64_t>(view.rows + 1), Buffer<std::int32_t>(view.nnz), {}};
  std::fill(a.row_ptr.begin(), a.row_ptr.end(), 0);
  if (!view.is_pattern()) a.values = Array(view.value_dtype(), view.nnz);
  return a;
}

/// Restores a matrix whose nonzeros are all in tiles. O(nnz + rows).
template <class Tiles>
Csr expand(const FormatView& view, const Tiles& tiles) {
  Csr a = empty_csr(view);
  count_row_entries(tiles, a.row_ptr.data() + 1);
  number_entries(a);
  visit_word(view.value_dtype(), [&](auto word) { fill_rows<decltype(word)>(tiles, a); });
  return a;
}

}  // namespace sptile::formats
