// Scratch of tile decoders: a group of tiles of one window, from which rows are extracted one at a time.
// Compiled once per instruction set.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/cpu/compress.hpp"
#include "runtime/cpu/row_kernel.hpp"
#include "runtime/cpu/values.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Tiles per group. The scratch of a row (8 KiB for float) fits in L1.
inline constexpr int kGroupTiles = 128;

/// Buffers for the entries of one row of a group.
template <class V, class A>
struct RowScratch {
  static constexpr int kCapacity = 8 * kGroupTiles + 8;  ///< each append writes 8 elements
  alignas(kVectorBytes) std::int32_t col[kCapacity];
  alignas(kVectorBytes) A value[kCapacity];

  RowScratch() { fill_constant<V>(value); }
};

/// Collects one row over the tiles of a group: the column ids selected by the row's bits, and the values at
/// the tile's cursor. Kept in registers during one row.
template <class V, class A>
class RowWriter {
 public:
  RowWriter(const ValueArray<V>& values, RowScratch<V, A>& scratch)
      : values_(values), col_(scratch.col), value_(scratch.value) {}

  /// Appends the columns of `ids` (8 of them) that `bits` selects.
  [[gnu::always_inline]] void append_columns(const std::int32_t* ids, unsigned bits) {
    compress8(ids, bits, col_ + count_);
  }

  /// Appends `count` values from position `from`. Call it after the columns that they belong to.
  [[gnu::always_inline]] void append_values(std::int64_t from, int count) {
    values_.copy_few(from, count, value_ + count_);
    count_ += count;
  }

  [[nodiscard]] Entries<A> entries() const { return {col_, value_, count_}; }

 private:
  const ValueArray<V> values_;
  std::int32_t* const col_;
  A* const value_;
  std::int64_t count_ = 0;
};

/// A group of tiles with kWords 64-bit masks (8 rows each) per tile, whose rows are bytes of the masks and
/// whose values are stored row by row: the layout of bittcf, rs_tile and me_tcf.
template <class V, class A, int kWords>
class TileGroup {
 public:
  /// Starts a group; `ids` are the columns of its first tile.
  void start(const std::int32_t* ids) {
    ids_ = ids;
    tiles_ = 0;
  }

  /// Adds a tile whose values start at `cursor`.
  void add(const std::uint64_t* masks, std::int64_t cursor) {
    for (int w = 0; w < kWords; ++w) masks_[tiles_][w] = masks[w];
    cursors_[tiles_++] = cursor;
  }

  /// Yields row r of all tiles. Rows must be requested once, in ascending order, because the cursors advance.
  [[gnu::noinline]] Entries<A> row(int r) {
    RowWriter<V, A> writer(values_, scratch_);
    const std::int32_t* ids = ids_;
    const int tiles = tiles_, word = r / 8, shift = 8 * (r % 8);
    for (int t = 0; t < tiles; ++t, ids += 8) {
      const auto bits = static_cast<unsigned>(masks_[t][word] >> shift & 0xffu);
      const int count = __builtin_popcount(bits);
      writer.append_columns(ids, bits);
      writer.append_values(cursors_[t], count);
      cursors_[t] += count;
    }
    return writer.entries();
  }

  void bind(const ArrayView& values) { values_.bind(values); }

 private:
  const std::int32_t* ids_ = nullptr;
  int tiles_ = 0;
  std::uint64_t masks_[kGroupTiles][kWords];
  std::int64_t cursors_[kGroupTiles];
  ValueArray<V> values_;
  RowScratch<V, A> scratch_;
};

/// The tiles of the open window, divided into groups.
struct TileRange {
  std::int64_t first = 0, last = 0;

  [[nodiscard]] int groups() const {
    return last - first <= kGroupTiles ? 1 : static_cast<int>((last - first + kGroupTiles - 1) / kGroupTiles);
  }
  [[nodiscard]] TileRange group(int g) const {
    const std::int64_t begin = first + std::int64_t{g} * kGroupTiles;
    return {begin, last - begin < kGroupTiles ? last : begin + kGroupTiles};
  }
};

/// Returns the rows of a window of height `height` that starts at `first_row`; the last window of a matrix
/// may be shorter.
inline int window_rows(std::int64_t first_row, std::int64_t rows, int height) {
  return rows - first_row < height ? static_cast<int>(rows - first_row) : height;
}

/// Rows and tiles of the open window of a format whose windows of H rows are contiguous.
template <int H>
class RegularWindow {
 public:
  static constexpr int kRows = H;

  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] std::int64_t row_id(int r) const { return first_row_ + r; }
  [[nodiscard]] int groups() const { return tiles_.groups(); }

 protected:
  /// Opens a window of a matrix with `rows` rows; `offset` is the first tile of each window.
  void open_window(std::span<const std::int32_t> offset, std::int64_t window, std::int64_t rows) {
    tiles_ = {offset.data()[window], offset.data()[window + 1]};
    first_row_ = window * kRows;
    rows_ = window_rows(first_row_, rows, kRows);
  }

  TileRange tiles_;
  std::int64_t first_row_ = 0;
  int rows_ = 0;
};

}  // namespace sptile::runtime::SPTILE_ISA
