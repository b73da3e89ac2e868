// CSR to libra_spmm (Libra, section 4.2).
#include "formats/convert/libra_spmm.hpp"

#include <bit>
#include <string>

#include "formats/convert/condense.hpp"
#include "formats/convert/from_to_csr.hpp"
#include "formats/convert/libra_split.hpp"
#include "formats/layout/libra_spmm.hpp"

namespace sptile::formats {
namespace {

/// A bit for each row of a tile, times a byte: the byte in each row.
constexpr std::uint64_t kEachRow = 0x0101010101010101;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// What the windows of a Chunk become, and where it stands in the arrays.
struct LibraChunk {
  std::int64_t tiles = 0, entries = 0, rows = 0;  ///< of the TC part; rows of the residual part
  std::int64_t dense = 0, filled = 0;             ///< columns, see LibraSplit
  std::int64_t first_tile = 0, first_entry = 0, first_row = 0, first_residual = 0;
};

/// Counts the rows of a mask that have a bit.
int used_rows(std::uint64_t mask) {
  int rows = 0;
  for (int r = 0; r < 8; ++r) rows += (mask >> (8 * r) & 0xFF) != 0;
  return rows;
}

/// Chooses the columns of all windows of a chunk: a bit for each of the 8 columns of a condensed tile. Writes
/// the number of tiles of window w to tiles_of[w].
class Chooser {
 public:
  Chooser(const Condensed& all, int threshold) : all_(all), threshold_(threshold) {}

  LibraChunk run(const Chunk& chunk, std::uint8_t* choice, std::int32_t* tiles_of) {
    LibraChunk result;
    std::int64_t tile = chunk.first_tile;
    for (std::int64_t w = chunk.first_window; w < chunk.end_window; ++w) {
      const std::int64_t tiles = all_.tiles_of(w);
      const LibraSplit split = choose(all_.masks.data() + tile, tiles);
      std::uint64_t rest = 0;
      for (std::int64_t t = 0; t < tiles; ++t) {
        unsigned bits = 0;
        for (unsigned c = 0; c < 8; ++c) bits |= unsigned{chosen_[at(8 * t + c)]} << c;
        choice[tile + t] = static_cast<std::uint8_t>(bits);
        rest |= all_.masks[tile + t] & ~(bits * kEachRow);
      }
      tiles_of[w] = static_cast<std::int32_t>((split.dense + split.filled + 7) / 8);
      result.tiles += tiles_of[w];
      result.entries += split.entries;
      result.rows += used_rows(rest);
      result.dense += split.dense;
      result.filled += split.filled;
      tile += tiles;
    }
    return result;
  }

 private:
  LibraSplit choose(const std::uint64_t* masks, std::int64_t tiles) {
    if (counts_.size() < at(8 * tiles)) counts_.resize(at(16 * tiles)), chosen_.resize(at(16 * tiles));
    for (std::int64_t t = 0; t < tiles; ++t) {
      const std::uint64_t columns = transpose_bits(masks[t]);
      for (int c = 0; c < 8; ++c) counts_[at(8 * t + c)] = kBitsOfByte[columns >> (8 * c) & 0xFF];
    }
    return split_window(std::span(counts_).first(at(8 * tiles)), threshold_, chosen_.data());
  }

  const Condensed& all_;
  int threshold_;
  std::vector<std::uint8_t> counts_, chosen_;  ///< of the columns of a window
};

/// The arrays of the whole matrix.
struct LibraArrays {
  Buffer<std::int32_t> row_window_offset, col_id, residual_row_id, residual_col_id;
  Buffer<std::uint32_t> tc_offset;
  Buffer<std::uint64_t> bitmap;
  Buffer<std::int64_t> residual_row_offset;
  Array values, residual_values;
};

/// Gives each chunk its place and the arrays their room. The sums at the end are those of the matrix.
LibraChunk number(const Condensed& all, std::vector<LibraChunk>& chunks, DType values, LibraArrays& arrays) {
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
  const std::int64_t residual = all.entries - sum.entries;
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
  return sum;
}

/// Writes the two parts of the windows of one chunk.
template <class Word>
class Filler {
 public:
  Filler(const CsrView& a, const Condensed& all, const std::uint8_t* choice, const LibraChunk& place,
         LibraArrays& to)
      : a_(a),
        all_(all),
        choice_(choice),
        to_(to),
        from_(static_cast<const Word*>(a.values.data)),
        values_(static_cast<Word*>(to.values.data())),
        residual_values_(static_cast<Word*>(to.residual_values.data())),
        tile_(place.first_tile),
        entry_(place.first_entry),
        row_(place.first_row),
        residual_(place.first_residual) {}

  void run(const Chunk& chunk) {
    std::int64_t tile = chunk.first_tile;
    for (std::int64_t w = chunk.first_window; w < chunk.end_window; ++w) {
      const std::int64_t end = tile + all_.tiles_of(w);
      open_rows(all_.starts[at(w)], tile, end);
      for (; tile < end; ++tile) take(tile);
      if (slots_ > 0) {
        for (int c = slots_; c < 8; ++c) to_.col_id[8 * tile_ + c] = to_.col_id[8 * tile_ + slots_ - 1];
        close_tile();
        slots_ = 0;
      }
    }
  }

 private:
  /// Finds where the rows of a window with these condensed tiles come from, and lists its residual rows.
  void open_rows(std::int64_t first, std::int64_t tile, std::int64_t end) {
    std::int64_t counts[8] = {};
    for (; tile < end; ++tile) {
      const std::uint64_t rest = all_.masks[tile] & ~(choice_[tile] * kEachRow);
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

  /// Deals the entries of a condensed tile out. Its chosen columns take the next slots, which stand in the
  /// open tile and in the one behind it.
  void take(std::int64_t tile) {
    const unsigned chosen = choice_[tile];
    const std::int32_t* columns = all_.columns.data() + 8 * tile;
    for (std::uint64_t mask = all_.masks[tile]; mask != 0; mask &= mask - 1) {
      const int row = std::countr_zero(mask) / 8, column = std::countr_zero(mask) % 8;
      const std::int64_t position = next_[row]++;
      if ((chosen >> column & 1) != 0) {
        const int slot = slots_ + std::popcount(chosen & ((1u << column) - 1));
        masks_[slot / 8] |= std::uint64_t{1} << (8 * row + slot % 8);
        positions_[slot / 8][8 * row + slot % 8] = position;
        to_.col_id[8 * tile_ + slot] = columns[column];
      } else {
        const std::int64_t to = next_residual_[row]++;
        to_.residual_col_id[to] = columns[column];
        if (from_ != nullptr) residual_values_[to] = from_[position];
      }
    }
    slots_ += std::popcount(chosen);
    if (slots_ < 8) return;
    close_tile();
    slots_ -= 8;
  }

  /// Writes the open tile; the one behind it opens.
  void close_tile() {
    const std::uint64_t mask = masks_[0];
    to_.bitmap[tile_++] = mask;
    if (from_ != nullptr) {
      Word* out = values_ + entry_;
      for (std::uint64_t bits = mask; bits != 0; bits &= bits - 1)
        *out++ = from_[positions_[0][std::countr_zero(bits)]];
    }
    entry_ += std::popcount(mask);
    to_.tc_offset[tile_] = static_cast<std::uint32_t>(entry_);
    masks_[0] = masks_[1];
    masks_[1] = 0;
    std::copy_n(positions_[1], 64, positions_[0]);
  }

  const CsrView& a_;
  const Condensed& all_;
  const std::uint8_t* choice_;
  LibraArrays& to_;
  const Word* from_;  ///< null for a pattern matrix
  Word *values_, *residual_values_;
  std::int64_t tile_, entry_, row_, residual_;         ///< written so far, in the whole matrix
  std::int64_t next_[8] = {}, next_residual_[8] = {};  ///< next entry of each row of the window
  int slots_ = 0;                                      ///< taken in the open tile
  std::uint64_t masks_[2] = {};                        ///< the open tile and the one behind it
  std::int64_t positions_[2][64] = {};                 ///< in CSR, of their entries
};

Parameters parameters_of(int threshold, const LibraChunk& sum) {
  return {{"window_rows", std::int64_t{8}},
          {"threshold", std::int64_t{threshold}},
          {"dense_columns", sum.dense},
          {"filled_columns", sum.filled}};
}

}  // namespace

Result<FormatData> libra_spmm_from_csr_at(const CsrView& a, int threshold, Progress* progress) {
  if (threshold < kLibraMinThreshold || threshold > kLibraMaxThreshold)
    return fail(Errc::usage, "libra_spmm: threshold " + std::to_string(threshold) + ", expected " +
                                 std::to_string(kLibraMinThreshold) + " to " +
                                 std::to_string(kLibraMaxThreshold) + " entries of 8");
  if (Status s = check_offsets_fit(a, kLibraSpmmLayout); !s) return tl::unexpected(s.error());
  const Buffer<std::int32_t> starts = fixed_windows(a.rows, 8);
  Result<Condensed> condensed = condense(a, starts.span(), 8, kLibraSpmmLayout, progress);
  if (!condensed) return tl::unexpected(condensed.error());
  const Condensed& all = *condensed;

  LibraArrays arrays;
  arrays.row_window_offset = Buffer<std::int32_t>(starts.size() + 1);
  Buffer<std::uint8_t> choice(all.tiles);
  std::vector<LibraChunk> chunks(all.chunks.size());
  tbb::parallel_for(std::size_t{0}, chunks.size(), [&](std::size_t i) {
    chunks[i] =
        Chooser(all, threshold).run(all.chunks[i], choice.data(), arrays.row_window_offset.data() + 1);
  });
  const LibraChunk sum = number(all, chunks, a.values.dtype, arrays);
  visit_word(a.values.dtype, [&](auto word) {
    tbb::parallel_for(std::size_t{0}, chunks.size(), [&](std::size_t i) {
      Filler<decltype(word)>(a, all, choice.data(), chunks[i], arrays).run(all.chunks[i]);
    });
  });

  FormatData data{&kLibraSpmmLayout, a.rows, a.cols, a.nnz(), {}, parameters_of(threshold, sum)};
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

Result<FormatData> libra_spmm_from_csr(const CsrView& a, Progress* progress) {
  return libra_spmm_from_csr_at(a, kLibraThreshold, progress);
}

}  // namespace sptile::formats
