// Conversion of a single tall window: its distinct columns, sorted and distributed, and its tiles.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"
#include "formats/layout/tall_rules.hpp"

namespace sptile::formats {

/// A distinct column of a window with the mask of sub-windows that use it: column << 16 | mask.
using TallKey = std::uint64_t;
inline std::int32_t tall_column(TallKey key) { return static_cast<std::int32_t>(key >> 16); }
inline std::uint32_t tall_mask(TallKey key) { return static_cast<std::uint32_t>(key & 0xFFFF); }

/// Distinct columns of 16 rows, ascending. Bit r of low (high) is set if row r (8 + r) uses the column.
struct TallRows {
  std::vector<std::int32_t> columns;
  std::vector<std::uint8_t> low, high;
};

/// Merges the columns of a block of 128 rows: first in eight 16-row parts (see WindowMerger), then pairwise,
/// which yields the column lists of every height. One object per thread, reused for many blocks.
class TallMerger {
 public:
  virtual ~TallMerger() = default;

  /// Merges the rows that start at first_row (a multiple of 128) into the lists of levels up to `level`.
  /// O(nnz).
  void merge(const CsrView& a, std::int64_t first_row, int level);

  /// Returns the columns of the i-th window of a level, ascending; bit s of a mask is sub-window s.
  [[nodiscard]] std::span<const TallKey> columns(int level, int i) const {
    return lists_[static_cast<std::size_t>(level)][static_cast<std::size_t>(i)];
  }
  /// Returns the rows of the i-th 16-row part of the block.
  [[nodiscard]] const TallRows& rows(int i) const { return rows_[static_cast<std::size_t>(i)]; }

 protected:
  virtual void merge_rows(const CsrView& a, std::int64_t first_row) = 0;

  TallRows rows_[8];

 private:
  std::vector<TallKey> lists_[kTallLevels][8];
};

/// Returns the faster merger for this number of columns.
std::unique_ptr<TallMerger> make_tall_merger(std::int64_t cols);

/// Sorts an ascending list of columns by (mask, column). The result contains mask << 32 | index in the
/// ascending list. O(columns).
class TallSorter {
 public:
  std::span<const std::uint64_t> sort(std::span<const TallKey> columns);

 private:
  std::vector<std::uint64_t> items_, other_;
};

/// A range of windows as stored by the format. Offsets are relative to the start of the range, values to the
/// start of the matrix.
struct TallTiles {
  std::vector<std::int32_t> groups_of_window;
  std::vector<std::int32_t> tiles_of_group;
  std::vector<std::uint32_t> group_mask;
  std::vector<std::int32_t> col_id;
  std::vector<std::uint64_t> bitmap;
  std::vector<std::uint32_t> value_offset;  ///< first nonzero of each tile
};

/// Builds windows from merged columns. One object per thread, reused for many windows.
class TallBuilder {
 public:
  /// Appends the i-th window of `level` of the merged block that starts at first_row. Writes its values to
  /// their places in `values` (all values of the matrix; null for a pattern). O(nnz of the window).
  void build(const CsrView& a, const TallMerger& merger, std::int64_t first_row, int level, int i,
             TallTiles& tiles, void* values);

 private:
  void place_columns(std::span<const TallKey> columns, TallTiles& tiles);
  void collect_bits(const TallMerger& merger, std::span<const TallKey> columns, int first_part, int parts);
  void append_tiles(std::uint32_t first_value, TallTiles& tiles);
  template <class Word>
  void move_values(const CsrView& a, const TallMerger& merger, std::int64_t first_row, int first_part,
                   int parts, Word* to) const;

  TallSorter sorter_;
  std::int64_t groups_ = 0;
  int sub_windows_ = 0;
  std::vector<std::uint32_t> slot_;       ///< 8 * group + column in the group, for each distinct column
  std::vector<std::uint32_t> part_slot_;  ///< slot_ for the columns of each part, concatenated
  std::vector<std::uint64_t> bits_;       ///< groups x sub-windows tiles, including empty ones
  std::vector<std::uint32_t> first_;      ///< first nonzero of each of these tiles
};

}  // namespace sptile::formats
