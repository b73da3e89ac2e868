// Attention with edge features in keys and values: out = P V and out_edges = P E by row, where P is the
// softmax of alpha * (x_i . y_j + q_i . e_ij) at the entries of A, and each weight is multiplied by a factor
// after the softmax. With e' = W e, q = W^T x makes x . e' of the score, and W out_edges the sum of the
// weights times e'.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kEdgeAttention;
extern const Operation kEdgeAttentionGradient;

}  // namespace sptile::runtime
