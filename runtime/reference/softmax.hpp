// The serial, obvious softmax of rows, and its gradient.
#pragma once

#include <span>

#include "formats/core/csr_view.hpp"
#include "runtime/core/operands.hpp"
#include "runtime/reference/number.hpp"

namespace sptile::runtime {

/// Lists of numbers at the entries of a matrix: number k of `a` stands at packed[k]; empty: at k.
struct EntryLists {
  const formats::CsrView& a;
  std::span<const std::int64_t> packed;
  DenseTypes types;
};

/// P = softmax of the rows of alpha * S. An entry of -inf has weight 0, as have all of a row with nothing
/// else. Hands each number to `sink`; its scale: P (1 + |alpha s| + the mean of that over the row, weighed by
/// P), as errors of what is exponentiated are relative errors of its exponential and of the sum.
void softmax_rows(const EntryLists& lists, const Operands& operands, const ResultSink& sink);

/// dS = alpha * P * (dP - sum over the row of P dP); scale: the same of absolute numbers.
void softmax_rows_gradient(const EntryLists& lists, const Operands& operands, const ResultSink& sink);

}  // namespace sptile::runtime
