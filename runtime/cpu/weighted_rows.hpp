// Weighted sums of dense rows of any type, computed by the blocks of row_kernel.hpp. Weights are values of A
// or computed numbers. Dense types are accessed through a few functions, so that the iteration is
// instantiated once. Compiled once per instruction set.
#pragma once

#include "runtime/cpu/cpu_kernels.hpp"
#include "runtime/cpu/row_kernel.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// A block of columns of the rows of a dense matrix.
template <class Acc>
struct RowBlock {
  ColumnBlock<Acc> block;
  int lanes = 1;
  std::int64_t width = 0;

  /// Adds weighted rows to `sums`, which are in carry layout; starts from zero if `first`.
  void add(const Entries<Acc>& factors, bool first, Acc* sums) const {
    block.fn(block, factors, nullptr, first ? nullptr : sums, sums);
  }
  /// Makes the sums contiguous: in carry layout, the last vector of a block overlaps the previous one.
  void straighten(Acc* sums) const {
    const std::int64_t from = (width + lanes - 1) / lanes * lanes - lanes;
    for (int i = 0; i < lanes; ++i) sums[block.last + i] = sums[from + i];
  }
};

/// Returns a block of at most kBlockColumns columns.
template <class D, int L = kLanes<Accumulator<D>>>
RowBlock<Accumulator<D>> block_of_rows(const Operand& rows, std::int64_t first, std::int64_t width) {
  using Acc = Accumulator<D>;
  if constexpr (L > 1)
    if (width < L) return block_of_rows<D, L / 2>(rows, first, width);
  RowBlock<Acc> made;
  made.block.fn = block_of<D, L>(static_cast<int>((width + L - 1) / L));
  made.block.b = reinterpret_cast<const std::byte*>(static_cast<const D*>(rows.data) + first);
  made.block.row_bytes = rows.ld * static_cast<std::int64_t>(sizeof(D));
  made.block.last = width - L;
  made.lanes = L;
  made.width = width;
  return made;
}

/// Functions of a dense element type for sums in Acc.
template <class Acc>
struct DenseType {
  RowBlock<Acc> (*block)(const Operand& rows, std::int64_t first, std::int64_t width);
  void (*read)(const Operand& from, std::int64_t at, std::int64_t count, Acc* to);
  void (*write)(const Acc* from, std::int64_t count, const Operand& to, std::int64_t at);
};

template <class D>
void read_elements(const Operand& from, std::int64_t at, std::int64_t count, Accumulator<D>* to) {
  const D* const source = static_cast<const D*>(from.data) + at;
  for (std::int64_t i = 0; i < count; ++i) to[i] = load<1>(source + i);
}
template <class D>
void write_elements(const Accumulator<D>* from, std::int64_t count, const Operand& to, std::int64_t at) {
  D* const target = static_cast<D*>(to.data) + at;
  for (std::int64_t i = 0; i < count; ++i) store<1>(target + i, from[i]);
}
template <class D>
inline constexpr DenseType<Accumulator<D>> kDenseType = {block_of_rows<D>, read_elements<D>,
                                                         write_elements<D>};

}  // namespace sptile::runtime::SPTILE_ISA
