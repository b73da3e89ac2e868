// Decoder of bitwin windows. Compiled once per instruction set.
#pragma once

#include "formats/layout/bitwin.hpp"
#include "runtime/cpu/tile_group.hpp"
#include "runtime/cpu/walk.hpp"

namespace sptile::runtime::SPTILE_ISA {

template <class V, class A>
class BitwinDecoder : public RegularWindow<8> {
 public:
  using Acc = A;

  explicit BitwinDecoder(const Task& task) : view_(formats::as_bitwin(task.format)) {
    group_.bind(view_.values);
  }

  void open(std::int64_t window) {
    open_window(view_.row_window_offset, window, view_.rows);
    first_value_ = view_.value_offset.data()[window];
  }

  [[gnu::noinline]] void prepare(int g) {
    if (g == 0) next_value_ = first_value_;
    const TileRange range = tiles_.group(g);
    group_.start(view_.col_id.data() + 8 * range.first);
    for (std::int64_t t = range.first; t < range.last; ++t) {
      const std::uint64_t* mask = view_.bitmap.data() + t;
      group_.add(mask, next_value_);
      next_value_ += __builtin_popcountll(*mask);
    }
  }
  Entries<A> row(int r) { return group_.row(r); }

 private:
  formats::BitwinView view_;
  std::int64_t first_value_ = 0, next_value_ = 0;
  TileGroup<V, A, 1> group_;
};

/// Kernel of `bitwin`; a unit is a window.
using BitwinKernel = WindowKernel<BitwinDecoder>;

}  // namespace sptile::runtime::SPTILE_ISA
