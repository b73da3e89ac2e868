// Decoder of bittcf windows. Compiled once per instruction set.
#pragma once

#include "formats/layout/bittcf.hpp"
#include "runtime/cpu/tile_group.hpp"
#include "runtime/cpu/walk.hpp"

namespace sptile::runtime::SPTILE_ISA {

template <class V, class A>
class BitTcfDecoder : public RegularWindow<8> {
 public:
  using Acc = A;

  explicit BitTcfDecoder(const Task& task) : view_(formats::as_bittcf(task.format)) {
    group_.bind(view_.values);
  }

  void open(std::int64_t window) { open_window(view_.row_window_offset, window, view_.rows); }

  [[gnu::noinline]] void prepare(int g) {
    const TileRange range = tiles_.group(g);
    group_.start(view_.sparse_a_to_b.data() + 8 * range.first);
    for (std::int64_t t = range.first; t < range.last; ++t)
      group_.add(view_.tc_local_bit.data() + t, view_.tc_offset.data()[t]);
  }
  Entries<A> row(int r) { return group_.row(r); }

 private:
  formats::BitTcfView view_;
  TileGroup<V, A, 1> group_;
};

/// Kernel of `bittcf`; a unit is a window.
using BitTcfKernel = WindowKernel<BitTcfDecoder>;

}  // namespace sptile::runtime::SPTILE_ISA
