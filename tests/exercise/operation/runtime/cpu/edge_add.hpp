// edge_add on the CPU: iterates over entries as SDDMM does, but adds instead of multiplying. Compiled once
// per instruction set.
#pragma once

#include "runtime/cpu/sddmm.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Returns the sum of n numbers.
template <class D>
Accumulator<D> sum_of(const D* row, std::int64_t n) {
  Accumulator<D> sum = 0;
  for (std::int64_t j = 0; j < n; ++j) sum += load<1>(row + j);
  return sum;
}

/// Writes the results of some entries of one row.
template <class D>
void add_row(const Task& task, std::int64_t row, const Entries<Position>& entries) {
  using Acc = Accumulator<D>;
  const Operand &x = task.operands.dense[0], &y = task.operands.dense[1];
  const auto alpha = static_cast<Acc>(task.operands.alpha), beta = static_cast<Acc>(task.operands.beta);
  const Acc of_row = sum_of(static_cast<const D*>(x.data) + row * x.ld, task.n);
  for (std::int64_t k = 0; k < entries.count; ++k) {
    D* const out = static_cast<D*>(task.operands.dense[2].data) + list_place(task, entries.value[k]);
    Acc number = alpha * (of_row + sum_of(static_cast<const D*>(y.data) + entries.col[k] * y.ld, task.n));
    if (beta != 0) number += beta * load<1>(out);
    store<1>(out, number);
  }
}

/// Kernel of one format for dense type D.
template <class F, class D>
void edge_add_chunk(const Task& task, const Chunk& chunk) noexcept {
  F::template walk_units<Positions, Position>(task, chunk, Sample{task, chunk, add_row<D>});
}

}  // namespace sptile::runtime::SPTILE_ISA
