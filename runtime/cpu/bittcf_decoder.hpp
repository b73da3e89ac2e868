// Decoder of bittcf windows. Compiled once per instruction set.
#pragma once

#include "formats/layout/bittcf.hpp"
#include "runtime/cpu/tile_group.hpp"
#include "runtime/cpu/walk.hpp"

namespace sptile::runtime::SPTILE_ISA {

template <class V, class A>
class BitTcfDecoder {
 public:
  using Acc = A;
  static constexpr int kRows = 8;

  explicit BitTcfDecoder(const Task& task) : view_(formats::as_bittcf(task.format)) {
    group_.bind(view_.values);
  }

  void open(std::int64_t window) {
    const std::int32_t* offset = view_.row_window_offset.data() + window;
    tiles_ = {offset[0], offset[1]};
    first_row_ = window * kRows;
    rows_ = window_rows(first_row_, view_.rows, kRows);
  }
  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] std::int64_t row_id(int r) const { return first_row_ + r; }
  [[nodiscard]] int groups() const { return tiles_.groups(); }

  [[gnu::noinline]] void prepare(int g) {
    const TileRange range = tiles_.group(g);
    group_.start(view_.sparse_a_to_b.data() + 8 * range.first);
    for (std::int64_t t = range.first; t < range.last; ++t)
      group_.add(view_.tc_local_bit.data() + t, view_.tc_offset.data()[t]);
  }
  Entries<A> row(int r) { return group_.row(r); }

 private:
  formats::BitTcfView view_;
  TileRange tiles_;
  std::int64_t first_row_ = 0;
  int rows_ = 0;
  TileGroup<V, A, 1> group_;
};

/// Kernel of `bittcf`; a unit is a window.
struct BitTcfKernel {
  template <class V, class A, class Walker>
  static void walk_units(const Task&, const Chunk& chunk, const Walker& walker) {
    walker.template walk<BitTcfDecoder<V, A>>(chunk.first, chunk.last);
  }
};

}  // namespace sptile::runtime::SPTILE_ISA
