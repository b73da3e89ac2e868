// Conversion between CSR and ME-TCF (DTC-SpMM, section 4.1).
#include "formats/convert/me_tcf.hpp"

#include "formats/convert/condense.hpp"
#include "formats/convert/expand.hpp"
#include "formats/layout/me_tcf.hpp"

namespace sptile::formats {
namespace {

std::array<TilePart, 2> me_tcf_parts(const std::uint64_t* masks) {
  return {TilePart{masks[0], 0}, TilePart{masks[1], 8}};
}

struct MeTcfTiles {
  MeTcfView a;

  std::int64_t windows() const { return static_cast<std::int64_t>(a.row_window_offset.size()) - 1; }
  std::int64_t first_row(std::int64_t w) const { return 16 * w; }
  std::int64_t first_tile(std::int64_t w) const { return a.row_window_offset[static_cast<std::size_t>(w)]; }
  std::int64_t first_value(std::int64_t w) const {
    return a.tc_offset[static_cast<std::size_t>(first_tile(w))];
  }
  auto parts(std::int64_t tile) const {
    const auto t = static_cast<std::size_t>(tile);
    std::uint64_t masks[2] = {0, 0};
    for (std::size_t i = a.tc_offset[t]; i < a.tc_offset[t + 1]; ++i)
      masks[a.tc_local_id[i] / 64] |= std::uint64_t{1} << (a.tc_local_id[i] % 64);
    return me_tcf_parts(masks);
  }
  const std::int32_t* columns(std::int64_t t) const { return a.sparse_a_to_b.data() + 8 * t; }
  ArrayView values() const { return a.values; }
};

/// Lists the bit positions (8 * row + column) of each tile, ascending.
Buffer<std::uint8_t> local_ids(const Condensed& tiles) {
  Buffer<std::uint8_t> ids(tiles.entries);
  tiles.for_each_chunk([&](const Chunk& chunk) {
    std::uint8_t* out = ids.data() + chunk.first_entry;
    const std::uint64_t* masks = tiles.masks_of(chunk);
    for (std::int64_t i = 0; i < 2 * chunk.tiles; ++i)
      for (std::uint64_t mask = masks[i]; mask != 0; mask &= mask - 1)
        *out++ = static_cast<std::uint8_t>(64 * (i % 2) + std::countr_zero(mask));
  });
  return ids;
}

}  // namespace

Result<FormatData> me_tcf_from_csr(const CsrView& a, Progress* progress) {
  if (Status s = check_offsets_fit(a, kMeTcfLayout); !s) return tl::unexpected(s.error());
  const Buffer<std::int32_t> starts = fixed_windows(a.rows, 16);
  Result<Condensed> tiles = condense(a, starts.span(), 16, kMeTcfLayout, progress);
  if (!tiles) return tl::unexpected(tiles.error());

  Buffer<std::uint32_t> tc_offset = tile_offsets(*tiles);
  Array values = copy_values(a, *tiles, me_tcf_parts);
  FormatData data{&kMeTcfLayout, a.rows, a.cols, a.nnz(), {}, {{"window_rows", std::int64_t{16}}}};
  data.arrays.emplace_back(std::move(tiles->row_window_offset));
  data.arrays.emplace_back(std::move(tc_offset));
  data.arrays.emplace_back(local_ids(*tiles));
  data.arrays.emplace_back(std::move(tiles->columns));
  data.arrays.push_back(std::move(values));
  return data;
}

Result<Csr> me_tcf_to_csr(const FormatView& view) { return expand(view, MeTcfTiles{as_me_tcf(view)}); }

}  // namespace sptile::formats
