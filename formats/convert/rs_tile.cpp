// Conversion between CSR and RS-Tile (RSH-SpMM, sections 3.2 and 3.3).
#include "formats/convert/rs_tile.hpp"

#include "formats/convert/condense.hpp"
#include "formats/convert/expand.hpp"
#include "formats/convert/rs_tile_partition.hpp"
#include "formats/convert/rs_tile_split.hpp"
#include "formats/core/value_types.hpp"
#include "formats/layout/rs_tile.hpp"

namespace sptile::formats {
namespace {

std::array<TilePart, 1> rs_tile_parts(const std::uint64_t* mask) { return {TilePart{*mask, 0}}; }

struct RsTiles {
  RsTileView a;

  std::int64_t windows() const { return static_cast<std::int64_t>(a.row_window_id.size()); }
  std::int64_t first_row(std::int64_t w) const { return a.row_window_id[static_cast<std::size_t>(w)]; }
  std::int64_t first_tile(std::int64_t w) const { return a.row_window_offset[static_cast<std::size_t>(w)]; }
  std::int64_t first_value(std::int64_t w) const { return a.value_offset[static_cast<std::size_t>(w)]; }
  auto parts(std::int64_t t) const { return rs_tile_parts(&a.bitmap[static_cast<std::size_t>(t)]); }
  const std::int32_t* columns(std::int64_t t) const { return a.col_id.data() + 8 * t; }
  ArrayView values() const { return a.values; }
};

/// Arrays of the residual part.
struct Residual {
  Buffer<std::int32_t> rows, class_offset, columns;
  Array values;
};

/// Sorts the residual rows by nonzeros per row (stable counting sort).
void sort_rows(const CsrView& a, const RowPartition& partition, Residual& residual) {
  residual.rows = Buffer<std::int32_t>(static_cast<std::int64_t>(partition.residual_rows.size()));
  residual.class_offset = Buffer<std::int32_t>(partition.tau_nnz + 2);
  std::fill(residual.class_offset.begin(), residual.class_offset.end(), 0);
  for (const std::int32_t r : partition.residual_rows) ++residual.class_offset[a.row_nnz(r) + 1];
  for (std::int64_t c = 1; c < residual.class_offset.size(); ++c)
    residual.class_offset[c] += residual.class_offset[c - 1];
  std::vector<std::int32_t> next(residual.class_offset.begin(), residual.class_offset.end());
  for (const std::int32_t r : partition.residual_rows)
    residual.rows[next[static_cast<std::size_t>(a.row_nnz(r))]++] = r;
}

Residual copy_residual(const CsrView& a, const RowPartition& partition) {
  Residual residual;
  sort_rows(a, partition, residual);
  std::int64_t entries = 0;
  for (const std::int32_t r : partition.residual_rows) entries += a.row_nnz(r);
  residual.columns = Buffer<std::int32_t>(entries);
  if (!a.is_pattern()) residual.values = Array(a.values.dtype, entries);
  const std::size_t size = size_of(a.values.dtype);
  std::int64_t to = 0;
  for (const std::int32_t r : residual.rows) {
    const std::int64_t from = a.row_ptr[static_cast<std::size_t>(r)], count = a.row_nnz(r);
    std::copy_n(a.col_idx.data() + from, count, residual.columns.data() + to);
    if (!a.is_pattern())
      std::memcpy(static_cast<std::byte*>(residual.values.data()) + static_cast<std::size_t>(to) * size,
                  static_cast<const std::byte*>(a.values.data) + static_cast<std::size_t>(from) * size,
                  static_cast<std::size_t>(count) * size);
    to += count;
  }
  return residual;
}

Result<FormatData> convert(const CsrView& a, const RsTileSetting& setting, Progress* progress) {
  RowPartition partition = partition_rows(a, setting);
  Result<Condensed> tiles = condense(a, partition.windows, 8, kRsTileLayout, progress);
  if (!tiles) return tl::unexpected(tiles.error());

  partition.set_tc_blocks(tiles->tiles);
  SplitWindows windows = split_windows(partition.windows, tiles->row_window_offset, tiles->masks, setting);
  Array values = copy_values(a, *tiles, rs_tile_parts);
  Residual residual = copy_residual(a, partition);
  FormatData data{&kRsTileLayout, a.rows, a.cols, a.nnz(), {}, partition.parameters()};
  for (auto& parameter : windows.parameters()) data.parameters.push_back(std::move(parameter));
  data.arrays.emplace_back(std::move(windows.row_window_id));
  data.arrays.emplace_back(std::move(windows.row_window_offset));
  data.arrays.emplace_back(std::move(windows.value_offset));
  data.arrays.emplace_back(std::move(windows.window_flags));
  data.arrays.emplace_back(std::move(tiles->masks));
  data.arrays.emplace_back(std::move(tiles->columns));
  data.arrays.push_back(std::move(values));
  data.arrays.emplace_back(std::move(residual.rows));
  data.arrays.emplace_back(std::move(residual.class_offset));
  data.arrays.emplace_back(std::move(residual.columns));
  data.arrays.push_back(std::move(residual.values));
  return data;
}

}  // namespace

Result<FormatData> rs_tile_from_csr(const CsrView& a, Progress* progress) {
  return convert(a, RsTileSetting(), progress);
}

Result<FormatData> rs_tile_from_csr_at(const CsrView& a, int parameter, Progress* progress) {
  if (Status s = check_parameter(kRsTileLayout, parameter); !s) return tl::unexpected(s.error());
  return convert(a, rs_tile_setting(parameter), progress);
}

Result<Csr> rs_tile_to_csr(const FormatView& view) {
  const RsTileView rs = as_rs_tile(view);
  const RsTiles tiles{rs};
  Csr a = empty_csr(view);
  count_row_entries(tiles, a.row_ptr.data() + 1);
  const auto for_each_residual = [&](const auto& f) {  // f(row, first nonzero, number of nonzeros)
    std::int64_t from = 0;
    for (std::size_t c = 1; c + 1 < rs.residual_class_offset.size(); ++c)
      for (auto i = rs.residual_class_offset[c]; i < rs.residual_class_offset[c + 1]; ++i) {
        f(rs.residual_row_id[static_cast<std::size_t>(i)], from, static_cast<std::int64_t>(c));
        from += static_cast<std::int64_t>(c);
      }
  };
  for_each_residual([&](std::int64_t row, std::int64_t, std::int64_t count) { a.row_ptr[row + 1] = count; });
  number_entries(a);
  visit_word(view.value_dtype(), [&](auto word) {
    using Word = decltype(word);
    fill_rows<Word>(tiles, a);
    for_each_residual([&](std::int64_t row, std::int64_t from, std::int64_t count) {
      std::copy_n(rs.residual_col_id.data() + from, count, a.col_idx.data() + a.row_ptr[row]);
      if (!view.is_pattern())
        std::copy_n(static_cast<const Word*>(rs.residual_values.data) + from, count,
                    static_cast<Word*>(a.values.data()) + a.row_ptr[row]);
    });
  });
  return a;
}

}  // namespace sptile::formats
