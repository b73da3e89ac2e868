// Conversion between CSR and hc_window (HyGNN, sections 4.1 and 4.2). Windows for tensor cores keep their
// condensed tiles; the rows of other windows are copied.
#include "formats/convert/hc_window.hpp"

#include <algorithm>
#include <bit>

#include "formats/convert/condense.hpp"
#include "formats/convert/expand.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/core/parallel_reduce.hpp"
#include "formats/layout/hc_window.hpp"
#include "formats/layout/invariants.hpp"

namespace sptile::formats {
namespace {

constexpr int kRows = 16;

std::array<TilePart, 2> parts_of(const std::uint64_t* masks) {
  return {TilePart{masks[0], 0}, TilePart{masks[1], 8}};
}

struct Tiles {
  HcWindowView a;

  std::int64_t windows() const { return std::ssize(a.row_window_offset) - 1; }
  std::int64_t first_row(std::int64_t w) const { return kRows * w; }
  std::int64_t first_tile(std::int64_t w) const { return a.row_window_offset[at(w)]; }
  std::int64_t first_value(std::int64_t w) const { return a.tc_offset[at(first_tile(w))]; }
  auto parts(std::int64_t t) const { return parts_of(a.bitmap.data() + 2 * t); }
  const std::int32_t* columns(std::int64_t t) const { return a.col_id.data() + 8 * t; }
  ArrayView values() const { return a.values; }
};

/// Returns the first nonzero of a row, or nnz for rows past the end.
std::int64_t row_start(const CsrView& a, std::int64_t row) { return a.row_ptr[at(std::min(row, a.rows))]; }

/// Totals of a chunk's windows, and the offsets of their rows.
struct HcChunk {
  std::int64_t tensor_windows = 0, rows = 0, entries = 0;  ///< `rows` and `entries` of windows for CUDA cores
  std::int64_t first_row = 0, first_entry = 0;
};

/// Returns the number of distinct columns of a window with these condensed tiles.
std::int64_t distinct_columns(const std::uint64_t* masks, std::int64_t tiles) {
  if (tiles == 0) return 0;
  const std::uint64_t* const last = masks + 2 * (tiles - 1);
  return 8 * (tiles - 1) + std::popcount(used_columns(last[0] | last[1]));
}

std::int64_t rows_with_entries(const CsrView& a, std::int64_t first) {
  std::int64_t rows = 0;
  for (int r = 0; r < kRows; ++r) rows += row_start(a, first + r) != row_start(a, first + r + 1);
  return rows;
}

std::int64_t window_entries(const CsrView& a, std::int64_t window) {
  return row_start(a, kRows * (window + 1)) - row_start(a, kRows * window);
}

/// Returns the gains of all windows on the cores that the selector assigns.
HcGains gains_of(const CsrView& a, const Condensed& all, const HcSelector& selector) {
  const auto add_chunk = [&](const Chunk& chunk, HcGains sum) {
    const std::uint64_t* masks = all.masks_of(chunk);
    for (std::int64_t w = chunk.first_window; w < chunk.end_window; ++w) {
      const std::int64_t tiles = all.tiles_of(w);
      sum.add(gain_on_cuda_cores(selector, distinct_columns(masks, tiles), window_entries(a, w)));
      masks += 2 * tiles;
    }
    return sum;
  };
  return parallel::reduce(
      tbb::blocked_range<std::size_t>(0, all.chunks.size(), 1), HcGains(),
      [&](const auto& range, HcGains sum) {
        for (std::size_t i = range.begin(); i < range.end(); ++i) sum = add_chunk(all.chunks[i], sum);
        return sum;
      },
      [](const HcGains& x, const HcGains& y) {
        return HcGains{x.cuda + y.cuda, x.tensor + y.tensor};
      });
}

/// Assigns the windows of a chunk to cores: tiles_of[w] becomes the number of tiles that window w keeps (all
/// or none). `kept` becomes the chunk of the kept tiles.
HcChunk choose(const CsrView& a, const Condensed& all, const HcSelector& selector, std::int32_t* tiles_of,
               Chunk& kept) {
  HcChunk result;
  const std::uint64_t* masks = all.masks_of(kept);
  kept.tiles = kept.entries = 0;
  for (std::int64_t w = kept.first_window; w < kept.end_window; ++w) {
    const std::int64_t first = kRows * w, tiles = all.tiles_of(w);
    const std::int64_t entries = window_entries(a, w);
    const bool tensor = tiles > 0 && !on_cuda_cores(selector, distinct_columns(masks, tiles), entries);
    masks += 2 * tiles;
    tiles_of[w] = tensor ? static_cast<std::int32_t>(tiles) : 0;
    (tensor ? kept.entries : result.entries) += entries;
    kept.tiles += tiles_of[w];
    result.tensor_windows += tensor;
    if (!tensor) result.rows += rows_with_entries(a, first);
  }
  return result;
}

/// Sets the offsets of each chunk among the kept tiles and among the rows. Returns the totals of the matrix.
HcChunk number(std::vector<HcChunk>& chunks, Condensed& kept) {
  HcChunk sum;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    Chunk& tiles = kept.chunks[i];
    tiles.first_tile = kept.tiles;
    tiles.first_entry = kept.entries;
    chunks[i].first_row = sum.rows;
    chunks[i].first_entry = sum.entries;
    kept.tiles += tiles.tiles;
    kept.entries += tiles.entries;
    sum.tensor_windows += chunks[i].tensor_windows;
    sum.rows += chunks[i].rows;
    sum.entries += chunks[i].entries;
  }
  return sum;
}

/// Copies the kept tiles of a chunk.
void keep_tiles(const Condensed& all, const Chunk& from, const Chunk& chunk, Condensed& kept) {
  std::int64_t source = from.first_tile, to = chunk.first_tile;
  for (std::int64_t w = chunk.first_window; w < chunk.end_window; ++w) {
    const std::int64_t tiles = kept.tiles_of(w);
    std::copy_n(all.columns.data() + 8 * source, 8 * tiles, kept.columns.data() + 8 * to);
    std::copy_n(all.masks.data() + 2 * source, 2 * tiles, kept.masks.data() + 2 * to);
    source += all.tiles_of(w);
    to += tiles;
  }
}

/// Arrays of the windows for CUDA cores.
struct HcRows {
  Buffer<std::int32_t> id, col_id;
  Buffer<std::int64_t> offset;
  Array values;

  HcRows(const HcChunk& sum, DType dtype) : id(sum.rows), col_id(sum.entries), offset(sum.rows + 1) {
    if (dtype != DType::none) values = Array(dtype, sum.entries);
    offset[0] = 0;
  }
};

/// Copies the rows of windows without tiles.
template <class Word>
void copy_rows(const CsrView& a, const Condensed& kept, const Chunk& chunk, const HcChunk& place,
               HcRows& rows) {
  const auto* const from = static_cast<const Word*>(a.values.data);  // null for a pattern matrix
  auto* const to = static_cast<Word*>(rows.values.data());
  std::int64_t row = place.first_row, entry = place.first_entry;
  for (std::int64_t w = chunk.first_window; w < chunk.end_window; ++w) {
    if (kept.tiles_of(w) > 0) continue;
    for (std::int64_t r = kRows * w; r < std::min(kRows * (w + 1), a.rows); ++r) {
      const std::int64_t first = row_start(a, r), entries = row_start(a, r + 1) - first;
      if (entries == 0) continue;
      std::copy_n(a.col_idx.data() + first, entries, rows.col_id.data() + entry);
      if (from != nullptr) std::copy_n(from + first, entries, to + entry);
      entry += entries;
      rows.id[row] = static_cast<std::int32_t>(r);
      rows.offset[++row] = entry;
    }
  }
}

/// Assigns all windows to cores: `kept` receives the tiles for tensor cores, `chunks` the offsets.
HcChunk split(const CsrView& a, const Condensed& all, const HcSelector& selector, Condensed& kept,
              std::vector<HcChunk>& chunks) {
  kept.height = kRows;
  kept.starts = all.starts;
  kept.chunks = all.chunks;
  kept.row_window_offset = Buffer<std::int32_t>(all.row_window_offset.size());
  kept.row_window_offset[0] = 0;
  parallel::loop(std::size_t{0}, chunks.size(), [&](std::size_t i) {
    chunks[i] = choose(a, all, selector, kept.row_window_offset.data() + 1, kept.chunks[i]);
  });
  const HcChunk sum = number(chunks, kept);
  for (std::int64_t w = 1; w < kept.row_window_offset.size(); ++w)
    kept.row_window_offset[w] += kept.row_window_offset[w - 1];
  kept.columns = Buffer<std::int32_t>(8 * kept.tiles);
  kept.masks = Buffer<std::uint64_t>(2 * kept.tiles);
  parallel::loop(std::size_t{0}, chunks.size(),
                 [&](std::size_t i) { keep_tiles(all, all.chunks[i], kept.chunks[i], kept); });
  return sum;
}

}  // namespace

Result<FormatData> hc_window_from_csr_at(const CsrView& a, int parameter, Progress* progress) {
  if (Status s = check_hc_parameter(parameter); !s) return tl::unexpected(s.error());
  if (Status s = check_offsets_fit(a, kHcWindowLayout); !s) return tl::unexpected(s.error());
  const Buffer<std::int32_t> starts = fixed_windows(a.rows, kRows);
  const Result<Condensed> all = condense(a, starts.span(), kRows, kHcWindowLayout, progress);
  if (!all) return tl::unexpected(all.error());

  Condensed kept;
  std::vector<HcChunk> chunks(all->chunks.size());
  HcSelector selector = hc_selector(parameter);
  if (selector.settles) selector = settled(selector, gains_of(a, *all, selector), a.nnz());
  const HcChunk sum = split(a, *all, selector, kept, chunks);
  HcRows rows(sum, a.values.dtype);
  visit_word(a.values.dtype, [&](auto word) {
    parallel::loop(std::size_t{0}, chunks.size(), [&](std::size_t i) {
      copy_rows<decltype(word)>(a, kept, kept.chunks[i], chunks[i], rows);
    });
  });

  FormatData data{&kHcWindowLayout,
                  a.rows,
                  a.cols,
                  a.nnz(),
                  {},
                  hc_parameters(parameter, sum.tensor_windows, starts.size() - sum.tensor_windows)};
  Buffer<std::uint32_t> tc_offset = tile_offsets(kept);
  Array values = copy_values(a, kept, parts_of);
  data.arrays.emplace_back(std::move(kept.row_window_offset));
  data.arrays.emplace_back(std::move(tc_offset));
  data.arrays.emplace_back(std::move(kept.masks));
  data.arrays.emplace_back(std::move(kept.columns));
  data.arrays.push_back(std::move(values));
  data.arrays.emplace_back(std::move(rows.id));
  data.arrays.emplace_back(std::move(rows.offset));
  data.arrays.emplace_back(std::move(rows.col_id));
  data.arrays.push_back(std::move(rows.values));
  return data;
}

Result<FormatData> hc_window_from_csr(const CsrView& a, Progress* progress) {
  return hc_window_from_csr_at(a, hc_parameter(kHcFitted), progress);
}

Result<Csr> hc_window_to_csr(const FormatView& view) {
  const HcWindowView a = as_hc_window(view);
  const Tiles tiles{a};
  Csr to = empty_csr(view);
  count_row_entries(tiles, to.row_ptr.data() + 1);
  for (std::size_t i = 0; i < a.row_id.size(); ++i)
    to.row_ptr[a.row_id[i] + 1] = a.row_offset[i + 1] - a.row_offset[i];
  number_entries(to);
  visit_word(view.value_dtype(), [&](auto word) {
    using Word = decltype(word);
    fill_rows<Word>(tiles, to);
    const auto* const from = static_cast<const Word*>(a.row_values.data);  // null for a pattern matrix
    auto* const values = static_cast<Word*>(to.values.data());
    parallel::loop(std::size_t{0}, a.row_id.size(), [&](std::size_t i) {
      const std::int64_t first = a.row_offset[i], entries = a.row_offset[i + 1] - first,
                         start = to.row_ptr[a.row_id[i]];
      std::copy_n(a.row_col_id.data() + first, entries, to.col_idx.data() + start);
      if (from != nullptr) std::copy_n(from + first, entries, values + start);
    });
  });
  return to;
}

}  // namespace sptile::formats
