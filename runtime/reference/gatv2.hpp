// Serial reference of GATv2 attention and its gradients, in double.
#pragma once

#include "runtime/core/gatv2_operands.hpp"
#include "runtime/reference/attention.hpp"

namespace sptile::runtime {

/// Computes, with z_ij = x_i + y_j + e_ij and s_ij = alpha * a . leaky_relu(z_ij) + bias_ij,
/// out_i = sum_j f_ij p_ij y_j, p being the softmax of the rows of s, and the statistics of rows. A score has
/// an error proportional to |alpha| |a| . (|x_i| + |y_j| + |e_ij|) + |bias|; see attention() for the scales
/// that follow. `projects`: the operands are those of gatv2_edges, whose e_ij is W f_ij.
void gatv2(const AttentionProblem& problem, bool projects, const Operands& operands, const ResultSink& sink);

/// Computes, with p from the given statistics, dp_ij = f_ij dout_i . y_j, delta_i = out_i . dout_i,
/// ds_ij = alpha p_ij (dp_ij - delta_i) and l_ij = leaky_relu'(z_ij):
///
///   dedges_ij = ds_ij a l_ij,    dX_i = sum_j dedges_ij,    da_rows_i = sum_j ds_ij l_ij z_ij,
///   weights_ij = f_ij p_ij,      dY_j = sum_i weights_ij dout_i + dedges_ij.
///
/// kGatv2Rows computes all but dY from A; kGatv2Columns computes dY from A^T, without edges. kGatv2EdgesRows
/// computes ds instead of weights and dedges; kGatv2EdgesColumns computes dY from A^T with features.
void gatv2_gradient(const AttentionProblem& problem, const Gatv2Side& side, const Operands& operands,
                    const ResultSink& sink);

/// Computes dW = sum_ij (ds_ij a l_ij) f_ij^T from ds. Where z is 0 but for its rounding, either value of l
/// is accepted.
void gatv2_weights(const AttentionProblem& problem, const Operands& operands, const ResultSink& sink);

}  // namespace sptile::runtime
