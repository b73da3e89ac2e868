#include "formats/convert/libra_parts.hpp"

#include <bit>

#include "formats/convert/condense.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/core/per_thread.hpp"
#include "formats/core/value_types.hpp"

namespace sptile::formats {
namespace {

/// Totals of a chunk's windows, and their offsets in the arrays.
struct LibraChunk {
  std::int64_t tiles = 0, entries = 0, rows = 0;  ///< `tiles` and `entries`: TC part; `rows`: residual part
  std::int64_t dense = 0, filled = 0;             ///< columns, see LibraSplit
  std::int64_t first_tile = 0, first_entry = 0, first_row = 0, first_residual = 0;
};

/// Counts the nonempty rows of a mask.
int used_rows(std::uint64_t mask) {
  int rows = 0;
  for (int r = 0; r < 8; ++r) rows += (mask >> (8 * r) & 0xFF) != 0;
  return rows;
}

/// Splits windows by a rule. Reused for many windows.
class Splitter {
 public:
  Splitter(const LibraRule& rule, LibraSetting setting) : rule_(rule), setting_(setting) {}

  /// Splits the window with these condensed tiles and sets slots().
  LibraSplit split(const std::uint64_t* masks, std::int64_t tiles) {
    if (counts_.size() < at(8 * tiles)) counts_.resize(at(16 * tiles)), slots_.resize(at(16 * tiles));
    for (std::int64_t t = 0; t < tiles; ++t) {
      const std::uint64_t columns = transpose_bits(masks[t]);
      for (int c = 0; c < 8; ++c) counts_[at(8 * t + c)] = kBitsOfByte[columns >> (8 * c) & 0xFF];
    }
    return rule_.split(std::span(counts_).first(at(8 * tiles)), setting_, slots_.data());
  }

  /// Returns the number of tiles of a window with this split.
  [[nodiscard]] std::int64_t tiles_for(const LibraSplit& split) const {
    const std::int64_t step = rule_.whole_blocks ? setting_.block_columns : 8;
    return (split.columns() + step - 1) / step * step / 8;
  }

  /// Returns the index of each column among the window's tile columns, or -1.
  [[nodiscard]] const std::int32_t* slots() const { return slots_.data(); }

  /// Returns the bits of the mask of condensed tile t whose columns are residual.
  [[nodiscard]] std::uint64_t rest(std::uint64_t mask, std::int64_t t) const {
    unsigned columns = 0;
    for (int c = 0; c < 8; ++c) columns |= unsigned{slots_[at(8 * t + c)] < 0} << c;
    return mask & columns * std::uint64_t{0x0101010101010101};  // these columns in each row
  }

 private:
  const LibraRule& rule_;
  LibraSetting setting_;
  std::vector<std::uint8_t> counts_;
  std::vector<std::int32_t> slots_;
};

/// Counts the totals of a chunk's windows. Writes the number of tiles of window w to tiles_of[w].
LibraChunk count_chunk(const Condensed& all, const Chunk& chunk, Splitter& splitter, std::int32_t* tiles_of) {
  LibraChunk result;
  const std::uint64_t* masks = all.masks_of(chunk);
  for (std::int64_t w = chunk.first_window; w < chunk.end_window; ++w) {
    const std::int64_t tiles = all.tiles_of(w);
    const LibraSplit split = splitter.split(masks, tiles);
    std::uint64_t rest = 0;
    for (std::int64_t t = 0; t < tiles; ++t) rest |= splitter.rest(*masks++, t);
    tiles_of[w] = static_cast<std::int32_t>(splitter.tiles_for(split));
    result.tiles += tiles_of[w];
    result.entries += split.entries;
    result.rows += used_rows(rest);
    result.dense += split.dense;
    result.filled += split.filled;
  }
  return result;
}

/// Arrays of the entire matrix.
struct LibraArrays {
  Buffer<std::int32_t> row_window_offset, col_id, residual_row_id, residual_col_id;
  Buffer<std::uint32_t> tc_offset;
  Buffer<std::uint64_t> bitmap;
  Buffer<std::int64_t> residual_row_offset;
  Array values, residual_values;
};

/// Sets the offsets of each chunk. Returns the totals of the matrix.
LibraChunk number(const Condensed& all, std::vector<LibraChunk>& chunks) {
  LibraChunk sum;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    LibraChunk& chunk = chunks[i];
    chunk.first_tile = sum.tiles;
    chunk.first_entry = sum.entries;
    chunk.first_row = sum.rows;
    chunk.first_residual = all.chunks[i].first_entry - sum.entries;
    sum.tiles += chunk.tiles;
    sum.entries += chunk.entries;
    sum.rows += chunk.rows;
    sum.dense += chunk.dense;
    sum.filled += chunk.filled;
  }
  return sum;
}

/// Allocates the arrays.
void allocate(const LibraChunk& sum, std::int64_t residual, DType values, LibraArrays& arrays) {
  arrays.tc_offset = Buffer<std::uint32_t>(sum.tiles + 1);
  arrays.bitmap = Buffer<std::uint64_t>(sum.tiles);
  arrays.col_id = Buffer<std::int32_t>(8 * sum.tiles);
  arrays.residual_row_id = Buffer<std::int32_t>(sum.rows);
  arrays.residual_row_offset = Buffer<std::int64_t>(sum.rows + 1);
  arrays.residual_col_id = Buffer<std::int32_t>(residual);
  if (values != DType::none) {
    arrays.values = Array(values, sum.entries);
    arrays.residual_values = Array(values, residual);
  }
  arrays.tc_offset[0] = 0;
  arrays.residual_row_offset[0] = 0;
  arrays.row_window_offset[0] = 0;
  for (std::int64_t w = 1; w < arrays.row_window_offset.size(); ++w)
    arrays.row_window_offset[w] += arrays.row_window_offset[w - 1];
}

/// Writes the two parts of windows. One object per thread, reused for many chunks.
template <class Word>
class Filler {
 public:
  Filler(const CsrView& a, const Condensed& all, const LibraRule& rule, LibraSetting setting, LibraArrays& to)
      : a_(a),
        all_(all),
        splitter_(rule, setting),
        to_(to),
        from_(static_cast<const Word*>(a.values.data)),
        values_(static_cast<Word*>(to.values.data())),
        residual_values_(static_cast<Word*>(to.residual_values.data())) {}

  void run(const Chunk& chunk, const LibraChunk& place) {
    tile_ = place.first_tile;
    entry_ = place.first_entry;
    row_ = place.first_row;
    residual_ = place.first_residual;
    std::int64_t tile = chunk.first_tile;
    for (std::int64_t w = chunk.first_window; w < chunk.end_window; ++w) {
      const std::int64_t tiles = all_.tiles_of(w);
      const LibraSplit split = splitter_.split(all_.masks.data() + tile, tiles);
      open_rows(all_.starts[at(w)], tile, tiles);
      masks_.assign(at(splitter_.tiles_for(split)), 0);
      if (positions_.size() < 64 * masks_.size()) positions_.resize(128 * masks_.size());
      for (std::int64_t t = 0; t < tiles; ++t) deal(tile + t, splitter_.slots() + 8 * t);
      std::int32_t* const columns = to_.col_id.data() + 8 * tile_;
      for (std::int64_t c = split.columns(); c < 8 * std::ssize(masks_); ++c)
        columns[c] = columns[split.columns() - 1];
      write_tiles();
      tile += tiles;
    }
  }

 private:
  /// Finds the first nonzeros of the rows of a window with these condensed tiles, and lists its residual
  /// rows.
  void open_rows(std::int64_t first, std::int64_t tile, std::int64_t tiles) {
    std::int64_t counts[8] = {};
    for (std::int64_t t = 0; t < tiles; ++t) {
      const std::uint64_t rest = splitter_.rest(all_.masks[tile + t], t);
      for (int r = 0; r < 8; ++r) counts[r] += kBitsOfByte[rest >> (8 * r) & 0xFF];
    }
    for (int r = 0; r < 8; ++r) {
      next_[r] = a_.row_ptr[at(std::min(first + r, a_.rows))];
      next_residual_[r] = residual_;
      if (counts[r] == 0) continue;
      residual_ += counts[r];
      to_.residual_row_id[row_] = static_cast<std::int32_t>(first + r);
      to_.residual_row_offset[++row_] = residual_;
    }
  }

  /// Assigns the nonzeros of a condensed tile to tile columns or residual rows.
  void deal(std::int64_t tile, const std::int32_t* slots) {
    const std::int32_t* columns = all_.columns.data() + 8 * tile;
    for (std::uint64_t mask = all_.masks[tile]; mask != 0; mask &= mask - 1) {
      const int row = std::countr_zero(mask) / 8, column = std::countr_zero(mask) % 8;
      const std::int64_t position = next_[row]++;
      if (const std::int32_t slot = slots[column]; slot >= 0) {
        const int bit = 8 * row + slot % 8;
        masks_[at(slot / 8)] |= std::uint64_t{1} << bit;
        positions_[at(std::int64_t{64} * (slot / 8) + bit)] = position;
        to_.col_id[8 * tile_ + slot] = columns[column];
      } else {
        const std::int64_t to = next_residual_[row]++;
        to_.residual_col_id[to] = columns[column];
        if (from_ != nullptr) residual_values_[to] = from_[position];
      }
    }
  }

  /// Writes the masks and values of the window's tiles.
  void write_tiles() {
    for (std::size_t m = 0; m < masks_.size(); ++m) {
      to_.bitmap[tile_] = masks_[m];
      for (std::uint64_t bits = masks_[m]; bits != 0; bits &= bits - 1, ++entry_)
        if (from_ != nullptr)
          values_[entry_] = from_[positions_[64 * m + static_cast<std::size_t>(std::countr_zero(bits))]];
      to_.tc_offset[++tile_] = static_cast<std::uint32_t>(entry_);
    }
  }

  const CsrView& a_;
  const Condensed& all_;
  Splitter splitter_;
  LibraArrays& to_;
  const Word* from_;  ///< null for a pattern matrix
  Word *values_, *residual_values_;
  std::int64_t tile_ = 0, entry_ = 0, row_ = 0, residual_ = 0;  ///< offsets of the next output in the entire
                                                                ///< matrix
  std::int64_t next_[8] = {}, next_residual_[8] = {};           ///< next nonzero of each row of the window
  std::vector<std::uint64_t> masks_;                            ///< masks of the window's tiles
  std::vector<std::int64_t> positions_;                         ///< CSR positions of the bits of the masks
};

}  // namespace

Result<FormatData> libra_from_csr(const CsrView& a, const LibraRule& rule, LibraSetting setting,
                                  Progress* progress) {
  if (Status s = check_libra_setting(*rule.layout, setting); !s) return tl::unexpected(s.error());
  if (Status s = check_offsets_fit(a, *rule.layout); !s) return tl::unexpected(s.error());
  const Buffer<std::int32_t> starts = fixed_windows(a.rows, 8);
  Result<Condensed> condensed = condense(a, starts.span(), 8, *rule.layout, progress);
  if (!condensed) return tl::unexpected(condensed.error());
  const Condensed& all = *condensed;

  LibraArrays arrays;
  arrays.row_window_offset = Buffer<std::int32_t>(starts.size() + 1);
  std::vector<LibraChunk> chunks(all.chunks.size());
  parallel::PerThread<Splitter> splitters([&] { return Splitter(rule, setting); });
  parallel::loop(std::size_t{0}, chunks.size(), [&](std::size_t i) {
    chunks[i] = count_chunk(all, all.chunks[i], splitters.local(), arrays.row_window_offset.data() + 1);
  });
  const LibraChunk sum = number(all, chunks);
  if (Status s = check_tiles_fit(sum.tiles, *rule.layout); !s)  // whole blocks can need more tiles than
                                                                // all.tiles
    return tl::unexpected(s.error());
  allocate(sum, all.entries - sum.entries, a.values.dtype, arrays);
  visit_word(a.values.dtype, [&](auto word) {
    using Worker = Filler<decltype(word)>;
    parallel::PerThread<Worker> fillers([&] { return Worker(a, all, rule, setting, arrays); });
    parallel::loop(std::size_t{0}, chunks.size(),
                   [&](std::size_t i) { fillers.local().run(all.chunks[i], chunks[i]); });
  });

  FormatData data{rule.layout, a.rows, a.cols, a.nnz(), {}, libra_parameters(setting, sum.dense, sum.filled)};
  data.arrays.emplace_back(std::move(arrays.row_window_offset));
  data.arrays.emplace_back(std::move(arrays.tc_offset));
  data.arrays.emplace_back(std::move(arrays.bitmap));
  data.arrays.emplace_back(std::move(arrays.col_id));
  data.arrays.push_back(std::move(arrays.values));
  data.arrays.emplace_back(std::move(arrays.residual_row_id));
  data.arrays.emplace_back(std::move(arrays.residual_row_offset));
  data.arrays.emplace_back(std::move(arrays.residual_col_id));
  data.arrays.push_back(std::move(arrays.residual_values));
  return data;
}

}  // namespace sptile::formats
