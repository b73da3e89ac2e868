// Serial reference of attention and its gradients, in double.
#pragma once

#include <span>

#include "formats/core/csr_view.hpp"
#include "runtime/core/attention_operands.hpp"
#include "runtime/core/operands.hpp"
#include "runtime/reference/number.hpp"

namespace sptile::runtime {

struct AttentionProblem {
  const formats::CsrView& a;
  std::int64_t n = 0, m = 0;  ///< columns of X and Y, and of V
  DenseTypes types;
  Score score = Score::dot;
  std::span<const std::int64_t> packed;  ///< list position of each entry; empty: in order
};

/// Computes out = softmax(alpha * score(x_i, y_j) + bias) V at the entries of A, and the statistics of rows.
/// Passes each element to `sink`.
///
/// Scales: a score s = alpha * score + bias has an error proportional to its magnitude |s| = |alpha| sum |x_k
/// y_k| (cosine: divided by the lengths; additive: |x| + |y|) + |bias|, which is a relative error of exp(s).
/// So out has the scale sum p_j |v_j| (1 + |s_j| + sum p_k |s_k|): the scale of a sum of products whose
/// softmax weights have these relative errors.
void attention(const AttentionProblem& problem, const Operands& operands, const ResultSink& sink);

/// Computes, with p from the given statistics, dp_ij = dout_i . v_j and delta_i = out_i . dout_i:
///
///   dbias_ij = ds_ij = p_ij (dp_ij - delta_i),    dX_i = alpha sum_j ds_ij dscore_ij / dx_i,
///   dV_j = sum_i p_ij dout_i,                     dY_j = alpha sum_i ds_ij dscore_ij / dy_j.
///
/// kRowsSide computes delta, dbias and dX from A; kColumnsSide computes dV and dY from A^T and delta. Scales:
/// as above, with the maximum magnitude of the differences dp - delta and with the magnitude of the stored
/// maximum, which is subtracted from scores.
void attention_gradient(const AttentionProblem& problem, const AttentionSide& side, const Operands& operands,
                        const ResultSink& sink);

}  // namespace sptile::runtime
