// Serial reference of attention with edge features and of its gradient, in double.
#pragma once

#include "runtime/reference/attention.hpp"

namespace sptile::runtime {

/// Computes, with s_ij = alpha * (x_i . y_j + q_i . e_ij) and p, the softmax of the rows of s,
/// out_i = sum_j f_ij p_ij v_j and out_edges_i = sum_j f_ij p_ij e_ij, and the statistics of rows. The rows
/// q_i are the operand X_edges. A score has an error proportional to |alpha| (|x_i| . |y_j| + |q_i| .
/// |e_ij|); see attention() for the scales that follow.
void edge_attention(const AttentionProblem& problem, const Operands& operands, const ResultSink& sink);

/// Computes, with p from the given statistics, dp_ij = f_ij (dout_i . v_j + dout_edges_i . e_ij) and
/// delta_i = out_i . dout_i + out_edges_i . dout_edges_i:
///
///   weights_ij = f_ij p_ij,               dscores_ij = p_ij (dp_ij - delta_i),
///   dX_i = alpha sum_j dscores_ij y_j,    dX_edges_i = alpha sum_j dscores_ij e_ij,
///   dedges_ij = alpha dscores_ij q_i + weights_ij dout_edges_i.
///
/// The other gradients are products with A^T: dY_j = alpha sum_i dscores_ij x_i, dV_j = sum_i weights_ij
/// dout_i.
void edge_attention_gradient(const AttentionProblem& problem, const Operands& operands,
                             const ResultSink& sink);

}  // namespace sptile::runtime
