// Decoder of bmat windows. The bits and values of a row come from two 8x4 words, the left and right half of
// the tile. Compiled once per instruction set.
#pragma once

#include "formats/layout/bmat.hpp"
#include "runtime/cpu/tile_group.hpp"
#include "runtime/cpu/walk.hpp"

namespace sptile::runtime::SPTILE_ISA {

template <class V, class A>
class BmatDecoder : public RegularWindow<16> {
 public:
  using Acc = A;

  explicit BmatDecoder(const Task& task) : view_(formats::as_bmat(task.format)) {
    values_.bind(view_.values);
  }

  void open(std::int64_t window) {
    open_window(view_.row_window_offset, window, view_.rows);
    first_value_ = view_.value_offset.data()[window];
  }

  /// Sets the two cursors of each tile. The left one reads words 0 and 1, eight rows each, and the right one
  /// words 2 and 3, so rows in ascending order need no search.
  [[gnu::noinline]] void prepare(int g) {
    if (g == 0) next_value_ = first_value_;
    range_ = tiles_.group(g);
    for (std::int64_t t = range_.first; t < range_.last; ++t) {
      const std::uint32_t* word = view_.bits.data() + 4 * t;
      Cursors& at = cursors_[t - range_.first];
      at.left = next_value_;
      at.right = at.left + __builtin_popcount(word[0]) + __builtin_popcount(word[1]);
      next_value_ = at.right + __builtin_popcount(word[2]) + __builtin_popcount(word[3]);
    }
  }

  [[gnu::noinline]] Entries<A> row(int r) {
    RowWriter<V, A> writer(values_, scratch_);
    const std::int32_t* ids = view_.col_id.data() + 8 * range_.first;
    const std::uint32_t* word = view_.bits.data() + 4 * range_.first;
    const int upper = r / 8, shift = 4 * (r % 8);
    Cursors* const end = cursors_ + (range_.last - range_.first);
    for (Cursors* at = cursors_; at != end; ++at, ids += 8, word += 4) {
      const unsigned left = word[upper] >> shift & 0xfu, right = word[2 + upper] >> shift & 0xfu;
      writer.append_columns(ids, left | right << 4);
      const int left_count = __builtin_popcount(left), right_count = __builtin_popcount(right);
      writer.append_values(at->left, left_count);
      writer.append_values(at->right, right_count);
      at->left += left_count;
      at->right += right_count;
    }
    return writer.entries();
  }

 private:
  struct Cursors {
    std::int64_t left, right;
  };
  formats::BmatView view_;
  TileRange range_;
  std::int64_t first_value_ = 0, next_value_ = 0;
  Cursors cursors_[kGroupTiles];
  ValueArray<V> values_;
  RowScratch<V, A> scratch_;
};

/// Kernel of `bmat`; a unit is a window.
using BmatKernel = WindowKernel<BmatDecoder>;

}  // namespace sptile::runtime::SPTILE_ISA
