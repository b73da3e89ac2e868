// Decoder of me_tcf, which converts the byte ids of a tile to the two masks of bittcf. Compiled once per
// instruction set.
#pragma once

#include "formats/layout/me_tcf.hpp"
#include "runtime/cpu/tile_group.hpp"
#include "runtime/cpu/walk.hpp"

namespace sptile::runtime::SPTILE_ISA {

template <class V, class A>
class MeTcfDecoder : public RegularWindow<16> {
 public:
  using Acc = A;

  explicit MeTcfDecoder(const Task& task) : view_(formats::as_me_tcf(task.format)) {
    group_.bind(view_.values);
  }

  void open(std::int64_t window) { open_window(view_.row_window_offset, window, view_.rows); }

  [[gnu::noinline]] void prepare(int g) {
    const TileRange range = tiles_.group(g);
    group_.start(view_.sparse_a_to_b.data() + 8 * range.first);
    for (std::int64_t t = range.first; t < range.last; ++t) add_tile(t);
  }
  Entries<A> row(int r) { return group_.row(r); }

 private:
  void add_tile(std::int64_t t) {
    const std::uint32_t begin = view_.tc_offset.data()[t], end = view_.tc_offset.data()[t + 1];
    const std::uint8_t* ids = view_.tc_local_id.data();
    std::uint64_t low = 0, high = 0;
    for (std::uint32_t k = begin; k < end; ++k) {
      const std::uint64_t bit = std::uint64_t{1} << (ids[k] & 63u);
      const std::uint64_t in_high = ~(std::uint64_t{ids[k]} >> 6) + 1;  // all ones for rows 8 to 15
      high |= bit & in_high;
      low |= bit & ~in_high;
    }
    const std::uint64_t masks[] = {low, high};
    group_.add(masks, begin);
  }

  formats::MeTcfView view_;
  TileGroup<V, A, 2> group_;
};

/// Kernel of `me_tcf`; a unit is a window.
using MeTcfKernel = WindowKernel<MeTcfDecoder>;

}  // namespace sptile::runtime::SPTILE_ISA
