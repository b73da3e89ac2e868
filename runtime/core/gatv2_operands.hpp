// Operand indices of GATv2 attention and its gradients.
#pragma once

#include "runtime/core/attention_operands.hpp"

namespace sptile::runtime {

/// Operand indices shared by all operations of gatv2. X, Y, bias and statistics have the indices of
/// attention.
inline constexpr int kGatv2Vector = 2, kGatv2Factors = 5;
/// Operands of the operations over the rows of A.
inline constexpr int kGatv2Edges = 6, kGatv2Out = 7;

/// Results of the gradient for rows.
inline constexpr int kGatv2Weights = 10, kGatv2EdgesGradient = 11, kGatv2VectorGradient = 12;

/// Operands of a gradient with respect to rows (plan of A) or columns (plan of A^T), whose computation is the
/// same: a row of the plan has the row `own`, and each entry refers to the row `other`.
struct Gatv2Side {
  int own, other;
  int dout, delta;
  int gradient;             ///< gradient of `own`; the last operand
  bool of_columns = false;  ///< statistics, dout and delta belong to the other row (the column of A^T)
};
inline constexpr Gatv2Side kGatv2Rows = {
    .own = kAttentionX, .other = kAttentionY, .dout = 8, .delta = 9, .gradient = 13};
inline constexpr Gatv2Side kGatv2Columns = {
    .own = kAttentionY, .other = kAttentionX, .dout = 6, .delta = 7, .gradient = 8, .of_columns = true};

}  // namespace sptile::runtime
