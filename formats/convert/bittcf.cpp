// CSR to BitTCF (Acc-SpMM, section 3.3) and back.
#include "formats/convert/bittcf.hpp"

#include "formats/convert/condense.hpp"
#include "formats/convert/expand.hpp"
#include "formats/layout/bittcf.hpp"

namespace sptile::formats {
namespace {

std::array<TilePart, 1> bittcf_parts(const std::uint64_t* mask) { return {TilePart{*mask, 0}}; }

struct BitTcfTiles {
  BitTcfView a;

  std::int64_t windows() const { return static_cast<std::int64_t>(a.row_window_offset.size()) - 1; }
  std::int64_t first_row(std::int64_t w) const { return 8 * w; }
  std::int64_t first_tile(std::int64_t w) const { return a.row_window_offset[static_cast<std::size_t>(w)]; }
  std::int64_t first_value(std::int64_t w) const {
    return a.tc_offset[static_cast<std::size_t>(first_tile(w))];
  }
  auto parts(std::int64_t t) const { return bittcf_parts(&a.tc_local_bit[static_cast<std::size_t>(t)]); }
  const std::int32_t* columns(std::int64_t t) const { return a.sparse_a_to_b.data() + 8 * t; }
  ArrayView values() const { return a.values; }
};

}  // namespace

Result<FormatData> bittcf_from_csr(const CsrView& a, Progress* progress) {
  if (Status s = check_offsets_fit(a, kBitTcfLayout); !s) return tl::unexpected(s.error());
  const Buffer<std::int32_t> starts = fixed_windows(a.rows, 8);
  Result<Condensed> tiles = condense(a, starts.span(), 8, kBitTcfLayout, progress);
  if (!tiles) return tl::unexpected(tiles.error());

  Buffer<std::uint32_t> tc_offset = tile_offsets(*tiles);
  Array values = copy_values(a, *tiles, bittcf_parts);
  FormatData data{&kBitTcfLayout, a.rows, a.cols, a.nnz(), {}, {{"window_rows", std::int64_t{8}}}};
  data.arrays.emplace_back(std::move(tiles->row_window_offset));
  data.arrays.emplace_back(std::move(tc_offset));
  data.arrays.emplace_back(std::move(tiles->masks));
  data.arrays.emplace_back(std::move(tiles->columns));
  data.arrays.push_back(std::move(values));
  return data;
}

Result<Csr> bittcf_to_csr(const FormatView& view) { return expand(view, BitTcfTiles{as_bittcf(view)}); }

}  // namespace sptile::formats
