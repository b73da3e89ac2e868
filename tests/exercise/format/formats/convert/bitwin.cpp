#include "formats/convert/bitwin.hpp"

#include <algorithm>
#include <array>

#include "formats/convert/condense.hpp"
#include "formats/convert/expand.hpp"
#include "formats/layout/bitwin.hpp"

namespace sptile::formats {
namespace {

std::array<TilePart, 1> parts_of(const std::uint64_t* mask) { return {TilePart{*mask, 0}}; }

struct Tiles {
  BitwinView a;

  std::int64_t windows() const { return std::ssize(a.row_window_offset) - 1; }
  std::int64_t first_row(std::int64_t w) const { return 8 * w; }
  std::int64_t first_tile(std::int64_t w) const { return a.row_window_offset[static_cast<std::size_t>(w)]; }
  std::int64_t first_value(std::int64_t w) const { return a.value_offset[static_cast<std::size_t>(w)]; }
  auto parts(std::int64_t t) const { return parts_of(&a.bitmap[static_cast<std::size_t>(t)]); }
  const std::int32_t* columns(std::int64_t t) const { return a.col_id.data() + 8 * t; }
  ArrayView values() const { return a.values; }
};

}  // namespace

Result<FormatData> bitwin_from_csr(const CsrView& a, Progress* progress) {
  const Buffer<std::int32_t> starts = fixed_windows(a.rows, 8);
  Result<Condensed> tiles = condense(a, starts.span(), 8, kBitwinLayout, progress);
  if (!tiles) return tl::unexpected(tiles.error());

  Buffer<std::int64_t> value_offset(starts.size() + 1);
  for (std::int64_t w = 0; w < value_offset.size(); ++w)
    value_offset[w] = a.row_ptr[static_cast<std::size_t>(std::min(8 * w, a.rows))];
  Array values = copy_values(a, *tiles, parts_of);
  FormatData data{&kBitwinLayout, a.rows, a.cols, a.nnz(), {}, {{"window_rows", std::int64_t{8}}}};
  data.arrays.emplace_back(std::move(tiles->row_window_offset));
  data.arrays.emplace_back(std::move(value_offset));
  data.arrays.emplace_back(std::move(tiles->masks));
  data.arrays.emplace_back(std::move(tiles->columns));
  data.arrays.push_back(std::move(values));
  return data;
}

Result<Csr> bitwin_to_csr(const FormatView& view) { return expand(view, Tiles{as_bitwin(view)}); }

}  // namespace sptile::formats
