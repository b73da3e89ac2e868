// Conversion between CSR and tall windows.
#include "formats/convert/tall.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "formats/convert/condense.hpp"
#include "formats/convert/expand.hpp"
#include "formats/convert/tall_height.hpp"
#include "formats/convert/tall_window.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/core/per_thread.hpp"
#include "formats/core/value_types.hpp"
#include "formats/layout/tall.hpp"

namespace sptile::formats {
namespace {

/// Approximate rows plus nonzeros that one task converts.
constexpr std::int64_t kChunkWeight = std::int64_t{1} << 17;

/// A range of 128-row blocks and the tiles made from them.
struct TallChunk {
  std::int64_t first_row, end_row;
  TallTiles tiles;
  std::int64_t first_window = 0, first_group = 0, first_tile = 0;  ///< offsets in the entire matrix
};

std::vector<TallChunk> cut_blocks(const CsrView& a) {
  std::vector<TallChunk> chunks;
  for (std::int64_t row = 0; row < a.rows;) {
    TallChunk chunk{row, row, {}};
    const std::int64_t first_entry = a.row_ptr[static_cast<std::size_t>(row)];
    do {
      row = std::min(row + kTallMaxRows, a.rows);
    } while (row < a.rows &&
             a.row_ptr[static_cast<std::size_t>(row)] - first_entry + row - chunk.first_row < kChunkWeight);
    chunk.end_row = row;
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

struct Worker {
  std::unique_ptr<TallMerger> merger;
  TallBuilder builder;

  void run(const CsrView& a, int level, TallChunk& chunk, void* values) {
    for (std::int64_t block = chunk.first_row; block < chunk.end_row; block += kTallMaxRows) {
      merger->merge(a, block, level);
      const std::int64_t rows = std::min<std::int64_t>(kTallMaxRows, a.rows - block);
      for (int i = 0; i * tall_height(level) < rows; ++i)
        builder.build(a, *merger, block, level, i, chunk.tiles, values);
    }
  }
};

/// Index arrays of the entire matrix.
struct TallArrays {
  Buffer<std::int32_t> window_row, window_group_offset, group_tile_offset, col_id;
  Buffer<std::uint32_t> group_mask, value_offset;
  Buffer<std::uint64_t> bitmap;
};

Status number(std::vector<TallChunk>& chunks, std::int64_t windows, std::int64_t nnz, TallArrays& arrays) {
  std::int64_t window = 0, groups = 0, tiles = 0;
  for (TallChunk& chunk : chunks) {
    chunk.first_window = window;
    chunk.first_group = groups;
    chunk.first_tile = tiles;
    window += std::ssize(chunk.tiles.groups_of_window);
    groups += std::ssize(chunk.tiles.group_mask);
    tiles += std::ssize(chunk.tiles.bitmap);
  }
  if (std::max(groups, tiles) > std::numeric_limits<std::int32_t>::max())
    return fail(Errc::unsupported, "tall: group_tile_offset would need " + std::to_string(tiles) +
                                       " tiles, but counts at most 2147483647; use csr");
  arrays.window_row = Buffer<std::int32_t>(windows + 1);
  arrays.window_group_offset = Buffer<std::int32_t>(windows + 1);
  arrays.group_mask = Buffer<std::uint32_t>(groups);
  arrays.group_tile_offset = Buffer<std::int32_t>(groups + 1);
  arrays.col_id = Buffer<std::int32_t>(8 * groups);
  arrays.bitmap = Buffer<std::uint64_t>(tiles);
  arrays.value_offset = Buffer<std::uint32_t>(tiles + 1);
  arrays.window_group_offset[windows] = static_cast<std::int32_t>(groups);
  arrays.group_tile_offset[groups] = static_cast<std::int32_t>(tiles);
  arrays.value_offset[tiles] = static_cast<std::uint32_t>(nnz);
  return {};
}

/// Writes the offsets that follow from counts, starting at `first`.
void offsets_of(const std::vector<std::int32_t>& counts, std::int64_t first, std::int32_t* to) {
  auto next = static_cast<std::int32_t>(first);
  for (const std::int32_t count : counts) {
    *to++ = next;
    next += count;
  }
}

/// Moves the tiles of a chunk to their final place and frees its memory.
void place(TallChunk& chunk, int height, TallArrays& arrays) {
  const TallTiles tiles = std::move(chunk.tiles);
  for (std::int64_t i = 0; i < std::ssize(tiles.groups_of_window); ++i)
    arrays.window_row[chunk.first_window + i] = static_cast<std::int32_t>(chunk.first_row + i * height);
  offsets_of(tiles.groups_of_window, chunk.first_group,
             arrays.window_group_offset.data() + chunk.first_window);
  offsets_of(tiles.tiles_of_group, chunk.first_tile, arrays.group_tile_offset.data() + chunk.first_group);
  std::copy(tiles.group_mask.begin(), tiles.group_mask.end(), arrays.group_mask.data() + chunk.first_group);
  std::copy(tiles.col_id.begin(), tiles.col_id.end(), arrays.col_id.data() + 8 * chunk.first_group);
  std::copy(tiles.bitmap.begin(), tiles.bitmap.end(), arrays.bitmap.data() + chunk.first_tile);
  std::copy(tiles.value_offset.begin(), tiles.value_offset.end(),
            arrays.value_offset.data() + chunk.first_tile);
}

/// Restores the rows of windows. One object per thread, reused for many windows.
class TallExpander {
 public:
  explicit TallExpander(const TallView& a) : a_(a) {}

  /// Adds the nonzeros of each row of a window to row_counts[row].
  void count(std::int64_t window, std::int64_t* row_counts) const {
    for_each_group(window, [&](std::int64_t group) {
      std::int64_t tile = a_.group_tile_offset[static_cast<std::size_t>(group)];
      for (std::uint32_t mask = a_.group_mask[static_cast<std::size_t>(group)]; mask != 0; mask &= mask - 1) {
        const std::uint64_t bits = a_.bitmap[static_cast<std::size_t>(tile++)];
        std::int64_t* const rows = row_counts + first_row(window) + 8 * std::countr_zero(mask);
        for (int r = 0; r < 8; ++r)
          if (const int count = kBitsOfByte[bits >> (8 * r) & 0xFF]; count > 0) rows[r] += count;
      }
    });
  }

  /// Writes the columns and values of the rows of a window; to.row_ptr must be set.
  template <class Word>
  void fill(std::int64_t window, Csr& to) {
    list_columns(window);
    std::int64_t next[kTallMaxRows];
    const std::int64_t first = first_row(window);
    for (std::int64_t r = 0; r < kTallMaxRows; ++r) next[r] = to.row_ptr[std::min(first + r, to.rows)];
    const auto* from = static_cast<const Word*>(a_.values.data);
    auto* const values = static_cast<Word*>(to.values.data());  // null for a pattern matrix
    for (const std::uint64_t column : columns_) {
      const std::int64_t slot = a_.window_group_offset[static_cast<std::size_t>(window)] * std::int64_t{8} +
                                static_cast<std::int64_t>(column & 0xFFFFFFFF);
      const auto group = static_cast<std::size_t>(slot / 8);
      auto tile = static_cast<std::size_t>(a_.group_tile_offset[group]);
      for (std::uint32_t mask = a_.group_mask[group]; mask != 0; mask &= mask - 1, ++tile) {
        const std::uint64_t bits = a_.bitmap[tile];
        std::uint64_t mine = bits >> (slot % 8) & 0x0101010101010101;
        for (; mine != 0; mine &= mine - 1) {
          const int r = std::countr_zero(mine) / 8;
          const std::int64_t at = next[8 * std::countr_zero(mask) + r]++;
          to.col_idx[at] = static_cast<std::int32_t>(column >> 32);
          if (values == nullptr) continue;
          const std::uint64_t below = (std::uint64_t{1} << (8 * r + slot % 8)) - 1;
          values[at] = from[a_.value_offset[tile] + static_cast<std::uint32_t>(std::popcount(bits & below))];
        }
      }
    }
  }

 private:
  [[nodiscard]] std::int64_t first_row(std::int64_t window) const {
    return a_.window_row[static_cast<std::size_t>(window)];
  }
  template <class F>
  void for_each_group(std::int64_t window, const F& f) const {
    const auto w = static_cast<std::size_t>(window);
    for (std::int64_t g = a_.window_group_offset[w]; g < a_.window_group_offset[w + 1]; ++g) f(g);
  }

  /// Lists the columns of a window in ascending order as column << 32 | place. Includes padding, whose places
  /// have no bits.
  void list_columns(std::int64_t window) {
    columns_.clear();
    const std::int64_t first = 8 * std::int64_t{a_.window_group_offset[static_cast<std::size_t>(window)]};
    for_each_group(window, [&](std::int64_t group) {
      for (std::int64_t i = 8 * group; i < 8 * group + 8; ++i)
        columns_.push_back(static_cast<std::uint64_t>(a_.col_id[static_cast<std::size_t>(i)]) << 32 |
                           static_cast<std::uint64_t>(i - first));
    });
    std::sort(columns_.begin(), columns_.end());
  }

  const TallView& a_;
  std::vector<std::uint64_t> columns_;
};

}  // namespace

Result<FormatData> tall_from_csr_at(const CsrView& a, int level, Parameters parameters, Progress* progress) {
  if (Status s = check_offsets_fit(a, kTallLayout, "value_offset"); !s) return tl::unexpected(s.error());
  std::vector<TallChunk> chunks = cut_blocks(a);
  Array values;
  if (!a.is_pattern()) values = Array(a.values.dtype, a.nnz());
  parallel::PerThread<Worker> workers([&] { return Worker{make_tall_merger(a.cols), {}}; });
  begin(progress, "convert", a.nnz());
  parallel::loop(std::size_t{0}, chunks.size(), [&](std::size_t i) {
    if (cancelled(progress)) return;
    workers.local().run(a, level, chunks[i], values.data());
    advance(progress, a.row_ptr[static_cast<std::size_t>(chunks[i].end_row)] -
                          a.row_ptr[static_cast<std::size_t>(chunks[i].first_row)]);
  });
  if (cancelled(progress)) return fail(Errc::io, "cancelled");
  workers.clear();

  const int height = tall_height(level);
  const std::int64_t windows = (a.rows + height - 1) / height;
  TallArrays arrays;
  if (Status s = number(chunks, windows, a.nnz(), arrays); !s) return tl::unexpected(s.error());
  parallel::loop(std::size_t{0}, chunks.size(), [&](std::size_t i) { place(chunks[i], height, arrays); });
  arrays.window_row[windows] = static_cast<std::int32_t>(a.rows);

  FormatData data{&kTallLayout, a.rows, a.cols, a.nnz(), {}, std::move(parameters)};
  data.arrays.emplace_back(std::move(arrays.window_row));
  data.arrays.emplace_back(std::move(arrays.window_group_offset));
  data.arrays.emplace_back(std::move(arrays.group_mask));
  data.arrays.emplace_back(std::move(arrays.group_tile_offset));
  data.arrays.emplace_back(std::move(arrays.col_id));
  data.arrays.emplace_back(std::move(arrays.bitmap));
  data.arrays.emplace_back(std::move(arrays.value_offset));
  data.arrays.push_back(std::move(values));
  return data;
}

Result<FormatData> tall_from_csr(const CsrView& a, Progress* progress) {
  if (Status s = check_offsets_fit(a, kTallLayout, "value_offset"); !s) return tl::unexpected(s.error());
  if (cancelled(progress)) return fail(Errc::io, "cancelled");
  const auto counts = count_tall_windows(a);
  const int level = cheapest_level(counts);
  return tall_from_csr_at(a, level, tall_parameters(counts, level), progress);
}

Result<FormatData> tall_from_csr_of_height(const CsrView& a, int height, Progress* progress) {
  if (Status s = check_parameter(kTallLayout, height); !s) return tl::unexpected(s.error());
  return tall_from_csr_at(a, tall_level(height), {}, progress);
}

Result<Csr> tall_to_csr(const FormatView& view) {
  const TallView tall = as_tall(view);
  Csr a = empty_csr(view);
  parallel::PerThread<TallExpander> expanders([&] { return TallExpander(tall); });
  parallel::loop(std::int64_t{0}, tall.windows(),
                 [&](std::int64_t w) { expanders.local().count(w, a.row_ptr.data() + 1); });
  number_entries(a);
  visit_word(view.value_dtype(), [&](auto word) {
    parallel::loop(std::int64_t{0}, tall.windows(),
                   [&](std::int64_t w) { expanders.local().fill<decltype(word)>(w, a); });
  });
  return a;
}

}  // namespace sptile::formats
