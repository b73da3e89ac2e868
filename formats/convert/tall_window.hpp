// One tall window: its distinct columns, clustered and dealt, and the tiles that they make.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"
#include "formats/layout/tall_rules.hpp"

namespace sptile::formats {

/// A distinct column of a window and the sub-windows that use it: column << 16 | mask.
using TallKey = std::uint64_t;
inline std::int32_t tall_column(TallKey key) { return static_cast<std::int32_t>(key >> 16); }
inline std::uint32_t tall_mask(TallKey key) { return static_cast<std::uint32_t>(key & 0xFFFF); }

/// The distinct columns of 16 rows, ascending; bit r of low and high tells that row r and 8 + r holds one.
struct TallRows {
  std::vector<std::int32_t> columns;
  std::vector<std::uint8_t> low, high;
};

/// Merges blocks of 128 rows. First the eight 16-row parts (see WindowMerger), then neighbours, so that the
/// column lists of all heights come on the way. Reused from block to block, one per thread.
class TallMerger {
 public:
  virtual ~TallMerger() = default;

  /// Merges the rows from first_row (a multiple of 128) on, up to the lists of `level`. O(entries).
  void merge(const CsrView& a, std::int64_t first_row, int level);

  /// Gives the columns, ascending, of the i-th window of a level; bit s of a mask is sub-window s.
  [[nodiscard]] std::span<const TallKey> columns(int level, int i) const {
    return lists_[static_cast<std::size_t>(level)][static_cast<std::size_t>(i)];
  }
  /// Gives the rows of the i-th 16-row part of the block.
  [[nodiscard]] const TallRows& rows(int i) const { return rows_[static_cast<std::size_t>(i)]; }

 protected:
  virtual void merge_rows(const CsrView& a, std::int64_t first_row) = 0;

  TallRows rows_[8];

 private:
  std::vector<TallKey> lists_[kTallLevels][8];
};

/// Makes the merger that is fast for this number of columns.
std::unique_ptr<TallMerger> make_tall_merger(std::int64_t cols);

/// Sorts by (mask, column): a list of columns, ascending, becomes a list of (mask << 32 | position in the
/// ascending list). O(columns).
class TallSorter {
 public:
  std::span<const std::uint64_t> sort(std::span<const TallKey> columns);

 private:
  std::vector<std::uint64_t> items_, other_;
};

/// Windows as the format stores them, from some first window on; offsets count from the start of the list,
/// values from the start of the matrix.
struct TallTiles {
  std::vector<std::int32_t> groups_of_window;
  std::vector<std::int32_t> tiles_of_group;
  std::vector<std::uint32_t> group_mask;
  std::vector<std::int32_t> col_id;
  std::vector<std::uint64_t> bitmap;
  std::vector<std::uint32_t> value_offset;  ///< first entry of each tile
};

/// Builds windows from what a merger found. Reused from window to window, one per thread.
class TallBuilder {
 public:
  /// Appends the i-th window of `level` of the merged block that starts at first_row; writes its values to
  /// their places in `values` (all values of the matrix; null for a pattern). O(entries).
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
  std::vector<std::uint32_t> slot_;       ///< 8 * group + column in the group, of each distinct column
  std::vector<std::uint32_t> part_slot_;  ///< the same for the columns of each part, one after the other
  std::vector<std::uint64_t> bits_;       ///< tiles of groups x sub-windows, empty ones too
  std::vector<std::uint32_t> first_;      ///< first entry of each of them
};

}  // namespace sptile::formats
