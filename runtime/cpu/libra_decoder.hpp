// Decoder of libra_spmm and libra_sddmm: the tiles of a window, then its residual rows. Compiled once per
// instruction set.
#pragma once

#include "formats/layout/libra.hpp"
#include "runtime/cpu/csr_decoder.hpp"
#include "runtime/cpu/tile_group.hpp"
#include "runtime/cpu/walk.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// A unit is a window of kWords masks of 8 rows. Groups of tiles precede the pieces of residual rows, so each
/// row adds its tile entries first. A window with only one of the two parts usually has one group.
template <class V, class A, int kWords>
class TwoPartDecoder : public RegularWindow<8 * kWords> {
 public:
  using Acc = A;
  using RegularWindow<8 * kWords>::kRows;

  TwoPartDecoder(const Task& task, const formats::LibraView& view) : view_(view) {
    group_.bind(view_.values);
    residual_values_.bind(view_.residual_values, task.format.nnz - residual_entries());
  }

  void open(std::int64_t window) {
    this->open_window(view_.row_window_offset, window, view_.rows);
    tile_groups_ = tiles_.first == tiles_.last ? 0 : tiles_.groups();
    open_residual_rows();
    groups_ = tile_groups_ + residual_pieces();
    if (groups_ == 0) groups_ = 1;  // rows without entries are written too
  }
  [[nodiscard]] int groups() const { return groups_; }

  [[gnu::noinline]] void prepare(int g) {
    piece_ = g - tile_groups_;
    if (piece_ >= 0) return;
    const TileRange range = tiles_.group(g);
    group_.start(view_.col_id.data() + 8 * range.first);
    for (std::int64_t t = range.first; t < range.last; ++t)
      group_.add(view_.bitmap.data() + kWords * t, view_.tc_offset.data()[t]);
  }
  Entries<A> row(int r) {
    if (piece_ < 0) return group_.row(r);
    if (residual_[r].first == residual_[r].last) return {};
    open_run(residual_[r]);
    return piece_ < run_.pieces() ? run_.piece(piece_) : Entries<A>{};
  }

 private:
  using RegularWindow<8 * kWords>::tiles_, RegularWindow<8 * kWords>::first_row_,
      RegularWindow<8 * kWords>::rows_;

  /// Entries of a residual row.
  struct Range {
    std::int64_t first = 0, last = 0;
  };

  [[nodiscard]] std::int64_t residual_entries() const {
    return static_cast<std::int64_t>(view_.residual_col_id.size());
  }

  /// Finds the residual rows of the window, continuing from the previous unit: units are opened in ascending
  /// order.
  void open_residual_rows() {
    const std::int32_t* const ids = view_.residual_row_id.data();
    const std::int64_t* const offset = view_.residual_row_offset.data();
    const auto count = static_cast<std::int64_t>(view_.residual_row_id.size());
    if (next_ < 0) next_ = first_residual_row();
    for (Range& range : residual_) range = {};
    for (; next_ < count && ids[next_] < first_row_ + rows_; ++next_)
      residual_[ids[next_] - first_row_] = {offset[next_], offset[next_ + 1]};
  }

  /// Binary search, because a chunk may start at any window.
  [[nodiscard]] std::int64_t first_residual_row() const {
    const std::int32_t* const ids = view_.residual_row_id.data();
    std::int64_t low = 0, high = static_cast<std::int64_t>(view_.residual_row_id.size());
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (ids[middle] < first_row_)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  void open_run(const Range& range) {
    run_.open(view_.residual_col_id.data() + range.first, residual_values_, range.first,
              range.last - range.first);
  }

  /// Returns the number of pieces of the longest residual row; 0 if the window has none.
  [[nodiscard]] int residual_pieces() {
    Range longest;
    for (const Range& range : residual_)
      if (range.last - range.first > longest.last - longest.first) longest = range;
    if (longest.first == longest.last) return 0;
    open_run(longest);
    return run_.pieces();
  }

  formats::LibraView view_;
  std::int64_t next_ = -1;  ///< position after the residual rows of the open window
  int tile_groups_ = 0, groups_ = 0;
  int piece_ = 0;  ///< piece of the residual rows; negative while tiles are decoded
  TileGroup<V, A, kWords> group_;
  Range residual_[kRows];
  ValueArray<V> residual_values_;
  EntryRun<V, A> run_;
};

template <class V, class A>
struct LibraDecoder : TwoPartDecoder<V, A, 1> {
  explicit LibraDecoder(const Task& task) : TwoPartDecoder<V, A, 1>(task, formats::as_libra(task.format)) {}
};

/// Kernel of both formats; a unit is a window.
using LibraKernel = WindowKernel<LibraDecoder>;

}  // namespace sptile::runtime::SPTILE_ISA
