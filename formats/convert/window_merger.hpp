// The distinct columns of a window, in ascending order, each with the set of rows that hold it: what every
// tile format is made from.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/csr_view.hpp"

namespace sptile::formats {

/// Merges the rows of windows of 8 or 16 rows. The rows are sorted already, so log2(height) levels of two-way
/// merges put their entries in order of (column, row); nothing else has to be moved, because within a row
/// the order of the values never changes. A merge step has no branch on the data, but has to wait for the
/// step before it. Merging from both ends, and several windows at once, fills that time: 2.5 times as fast
/// as one plain merge after the other. Reused from batch to batch, one per thread.
///
/// Key holds (column + 1) << 4 | row between its smallest and its largest value, which are sentinels: 32 bits
/// do up to kMaxCols columns.
template <class Key>
class WindowMerger {
 public:
  static constexpr int kBatch = 4;  ///< windows merged at once
  static constexpr std::int64_t kMaxCols = (std::int64_t{1} << (sizeof(Key) == 4 ? 28 : 40)) - 2;

  explicit WindowMerger(int height) : height_(height) {}

  /// Merges the windows that start at the given rows, at most kBatch of them. O(entries * log2(height)).
  void merge(const CsrView& a, std::span<const std::int32_t> starts);

  /// Gives the entries of the i-th window of the last batch.
  [[nodiscard]] std::int64_t size(int i) const { return runs_[static_cast<std::size_t>(i)].size; }

  /// Writes the distinct columns of the i-th window of the last batch and the rows that hold each: bit r of
  /// low for row r, bit r of high for row r + 8 (high may be null for windows of 8 rows). Returns their
  /// number; the arrays need room for size(i) elements.
  std::int64_t columns(int i, std::int32_t* columns, std::uint8_t* low, std::uint8_t* high) const;

 private:
  /// Sorted keys with a sentinel at each end: keys[-1] and keys[size].
  struct Run {
    Key* keys;
    std::int64_t size;
  };
  class Merge;

  void load(const CsrView& a, std::span<const std::int32_t> starts);
  void load_row(std::span<const std::int32_t> columns, Key row, Key*& out, Run& run);

  int height_;
  std::vector<Key> keys_[2];  ///< the runs of one level and of the next
  std::array<Run, kBatch * 16> runs_{};
};

extern template class WindowMerger<std::uint32_t>;
extern template class WindowMerger<std::uint64_t>;

}  // namespace sptile::formats
