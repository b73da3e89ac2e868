// Division of the columns of a product into blocks whose sums fit into registers. Compiled once per
// instruction set.
#pragma once

#include "runtime/cpu/row_kernel.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// The blocks of a range of columns.
template <class Acc>
struct Panel {
  static constexpr int kMaxBlocks = 16;
  static constexpr std::int64_t kMaxColumns = std::int64_t{kMaxBlocks} * kBlockColumns<Acc>;
  ColumnBlock<Acc> blocks[kMaxBlocks];
  int count = 0;
};

/// Divides columns [first, last) of the task, at most kMaxColumns, into blocks with nearly equal numbers of
/// vectors. Vectors are full, except in a range that is narrower: it uses the widest vectors that fit.
template <class D, class R, int L = kLanes<Accumulator<D>>>
void cut_columns(const Task& task, std::int64_t first, std::int64_t last, Panel<Accumulator<D>>& panel) {
  const std::int64_t width = last - first;
  const Operand& b = task.operands.dense[kSpmmB];
  if constexpr (L > 1)
    if (width < L) return cut_columns<D, R, L / 2>(task, first, last, panel);
  const std::int64_t vectors = (width + L - 1) / L;
  panel.count = static_cast<int>((vectors + kBlockVectors - 1) / kBlockVectors);
  for (int i = 0; i < panel.count; ++i) {
    const std::int64_t begin = vectors * i / panel.count, end = vectors * (i + 1) / panel.count;
    const std::int64_t columns = (i + 1 < panel.count ? end * L : width) - begin * L;
    ColumnBlock<Accumulator<D>>& block = panel.blocks[i];
    block.fn = block_of<D, L>(static_cast<int>(end - begin));
    block.b = reinterpret_cast<const std::byte*>(static_cast<const D*>(b.data) + first + begin * L);
    block.row_bytes = b.ld * static_cast<std::int64_t>(sizeof(D));
    block.c_offset = (first + begin * L) * static_cast<std::int64_t>(sizeof(R));
    block.last = columns - L;
    block.wide = sizeof(R) != sizeof(D);
    block.alpha = static_cast<Accumulator<D>>(task.operands.alpha);
    block.beta = static_cast<Accumulator<D>>(task.operands.beta);
  }
}

}  // namespace sptile::runtime::SPTILE_ISA
