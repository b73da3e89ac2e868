// Serial reference of the softmax of rows and its gradient.
#pragma once

#include <span>

#include "formats/core/csr_view.hpp"
#include "runtime/core/operands.hpp"
#include "runtime/reference/number.hpp"

namespace sptile::runtime {

/// Lists with one number per entry of a matrix: the number of entry k of `a` is at packed[k]; empty: at k.
struct EntryLists {
  const formats::CsrView& a;
  std::span<const std::int64_t> packed;
  DenseTypes types;
};

/// Computes P = softmax of the rows of alpha * S. An entry of -inf has weight 0, and so do all entries of a
/// row of -inf. Passes each number to `sink` with the scale P (1 + |alpha s| + mean of |alpha s| over the
/// row, weighted by P), because errors of the argument of exp are relative errors of its result and of the
/// sum.
void softmax_rows(const EntryLists& lists, const Operands& operands, const ResultSink& sink);

/// Computes dS = alpha * P * (dP - sum over the row of P dP). The scale is the same expression of absolute
/// values.
void softmax_rows_gradient(const EntryLists& lists, const Operands& operands, const ResultSink& sink);

}  // namespace sptile::runtime
