// CSR to BMat (Voltrix-SpMM) and back.
#include "formats/convert/bmat.hpp"

#include <bit>

#include "formats/convert/condense.hpp"
#include "formats/convert/expand.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/layout/bmat.hpp"

namespace sptile::formats {
namespace {

constexpr std::uint64_t kLeftColumns = 0x0F0F0F0F0F0F0F0F;  // columns 0 to 3 of each row

std::array<TilePart, 4> bmat_parts(const std::uint64_t* masks) {
  return {TilePart{masks[0] & kLeftColumns, 0}, TilePart{masks[1] & kLeftColumns, 8},
          TilePart{masks[0] & ~kLeftColumns, 0}, TilePart{masks[1] & ~kLeftColumns, 8}};
}

/// Packs columns 0 to 3 of an 8x8 mask into a word (bit 4 * row + column).
std::uint32_t left_word(std::uint64_t mask) {
  mask &= kLeftColumns;
  mask = (mask | mask >> 4) & 0x00FF00FF00FF00FF;
  mask = (mask | mask >> 8) & 0x0000FFFF0000FFFF;
  return static_cast<std::uint32_t>(mask | mask >> 16);
}

/// Inverse of left_word.
std::uint64_t spread_word(std::uint64_t word) {
  word = (word | word << 16) & 0x0000FFFF0000FFFF;
  word = (word | word << 8) & 0x00FF00FF00FF00FF;
  return (word | word << 4) & kLeftColumns;
}

struct BmatTiles {
  BmatView a;

  std::int64_t windows() const { return static_cast<std::int64_t>(a.row_window_offset.size()) - 1; }
  std::int64_t first_row(std::int64_t w) const { return 16 * w; }
  std::int64_t first_tile(std::int64_t w) const { return a.row_window_offset[static_cast<std::size_t>(w)]; }
  std::int64_t first_value(std::int64_t w) const { return a.value_offset[static_cast<std::size_t>(w)]; }
  auto parts(std::int64_t t) const {
    const std::uint32_t* words = a.bits.data() + 4 * t;
    const std::uint64_t masks[2] = {spread_word(words[0]) | spread_word(words[2]) << 4,
                                    spread_word(words[1]) | spread_word(words[3]) << 4};
    return bmat_parts(masks);
  }
  const std::int32_t* columns(std::int64_t t) const { return a.col_id.data() + 8 * t; }
  ArrayView values() const { return a.values; }
};

/// Converts the two masks of each tile to its four words, in place.
Array into_words(Condensed& tiles) {
  static_assert(std::endian::native == std::endian::little);
  parallel::loop(std::int64_t{0}, tiles.tiles, [&](std::int64_t t) {
    std::uint64_t* const pair = tiles.masks.data() + 2 * t;
    const std::uint64_t upper = pair[0], lower = pair[1];  // rows 0 to 7, rows 8 to 15
    const auto words = [&](int shift) {
      return left_word(upper >> shift) | static_cast<std::uint64_t>(left_word(lower >> shift)) << 32;
    };
    pair[0] = words(0);
    pair[1] = words(4);
  });
  return {DType::u32, std::move(tiles.masks).into_bytes()};
}

}  // namespace

Result<FormatData> bmat_from_csr(const CsrView& a, Progress* progress) {
  const Buffer<std::int32_t> starts = fixed_windows(a.rows, 16);
  Result<Condensed> tiles = condense(a, starts.span(), 16, kBmatLayout, progress);
  if (!tiles) return tl::unexpected(tiles.error());

  Buffer<std::int64_t> value_offset(starts.size() + 1);
  for (std::int64_t w = 0; w < value_offset.size(); ++w)
    value_offset[w] = a.row_ptr[static_cast<std::size_t>(std::min(16 * w, a.rows))];
  Array values = copy_values(a, *tiles, bmat_parts);
  FormatData data{&kBmatLayout, a.rows, a.cols, a.nnz(), {}, {{"window_rows", std::int64_t{16}}}};
  data.arrays.emplace_back(std::move(tiles->row_window_offset));
  data.arrays.emplace_back(std::move(value_offset));
  data.arrays.push_back(into_words(*tiles));
  data.arrays.emplace_back(std::move(tiles->columns));
  data.arrays.push_back(std::move(values));
  return data;
}

Result<Csr> bmat_to_csr(const FormatView& view) { return expand(view, BmatTiles{as_bmat(view)}); }

}  // namespace sptile::formats
