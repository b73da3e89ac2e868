// The serial, obvious attention and its gradients, in double.
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
  std::span<const std::int64_t> packed;  ///< where lists have the number of each entry; empty: in order
};

/// out = softmax(alpha * score(x_i, y_j) + bias) V at the entries of A, and the statistics of rows. Hands
/// each element to `sink`. Scales: a score s = alpha * score + bias has an error proportional to its
/// magnitude |s| = |alpha| sum |x_k y_k| (cosine: over the lengths; additive: |x| + |y|) + |bias|, and that
/// is a relative error of its exponential. So out has the scale sum p_j |v_j| (1 + |s_j| + sum p_k |s_k|),
/// which is that of a sum of products, of a softmax that knows its arguments no better.
void attention(const AttentionProblem& problem, const Operands& operands, const ResultSink& sink);

/// With p from the statistics that are given, dp_ij = dout_i . v_j and delta_i = out_i . dout_i:
///   dbias_ij = ds_ij = p_ij (dp_ij - delta_i),    dX_i = alpha sum_j ds_ij dscore_ij / dx_i,
///   dV_j = sum_i p_ij dout_i,                     dY_j = alpha sum_i ds_ij dscore_ij / dy_j.
/// kRowsSide makes delta, dbias and dX from A; kColumnsSide makes dV and dY from its transpose and delta.
/// Scales: as above, with the largest magnitude of the differences dp - delta, and that of the maximum in the
/// statistics, as scores are taken from it.
void attention_gradient(const AttentionProblem& problem, const AttentionSide& side, const Operands& operands,
                        const ResultSink& sink);

}  // namespace sptile::runtime
