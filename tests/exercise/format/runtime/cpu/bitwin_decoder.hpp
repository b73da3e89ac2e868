// Decoder of bitwin windows. Compiled once per instruction set.
#pragma once

#include "formats/layout/bitwin.hpp"
#include "runtime/cpu/tile_group.hpp"
#include "runtime/cpu/walk.hpp"

namespace sptile::runtime::SPTILE_ISA {

template <class V, class A>
class BitwinDecoder {
 public:
  using Acc = A;
  static constexpr int kRows = 8;

  explicit BitwinDecoder(const Task& task) : view_(formats::as_bitwin(task.format)) {
    group_.bind(view_.values);
  }

  void open(std::int64_t window) {
    const std::int32_t* offset = view_.row_window_offset.data() + window;
    tiles_ = {offset[0], offset[1]};
    first_value_ = view_.value_offset.data()[window];
    first_row_ = window * kRows;
    rows_ = window_rows(first_row_, view_.rows, kRows);
  }
  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] std::int64_t row_id(int r) const { return first_row_ + r; }
  [[nodiscard]] int groups() const { return tiles_.groups(); }

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
  TileRange tiles_;
  std::int64_t first_row_ = 0, first_value_ = 0, next_value_ = 0;
  int rows_ = 0;
  TileGroup<V, A, 1> group_;
};

/// Kernel of `bitwin`; a unit is a window.
struct BitwinKernel {
  template <class V, class A, class Walker>
  static void walk_units(const Task&, const Chunk& chunk, const Walker& walker) {
    walker.template walk<BitwinDecoder<V, A>>(chunk.first, chunk.last);
  }
};

}  // namespace sptile::runtime::SPTILE_ISA
