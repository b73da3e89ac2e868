// Operand indices of attention with edge features and of its gradient.
#pragma once

#include "runtime/core/attention_operands.hpp"

namespace sptile::runtime {

/// Operand indices shared by both operations. X, Y, V and statistics have the indices of attention. Factors
/// have that of its bias, so that groups of lanes stage them in the same way.
inline constexpr int kEdgeFactors = kAttentionBias;
inline constexpr int kEdges = 5, kEdgeQueries = 6, kEdgeOut = 7, kEdgeAttentionOut = 8;

/// Operands of the gradient.
inline constexpr int kEdgeDOut = 9, kEdgeAttentionDOut = 10, kEdgeWeights = 11, kEdgeDScores = 12,
                     kEdgesGradient = 13, kEdgeQueriesGradient = 14, kEdgeAttentionGradientX = 15;

}  // namespace sptile::runtime
