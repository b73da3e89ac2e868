// Gradient of a layer that updates first, Y = A^T (X W) with G = dY: dX = (A G) W^T and dW = X^T (A G), both
// from one aggregation Z = A G, which is not a result.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kLayerGradient;

/// Operand indices.
inline constexpr int kLayerG = 0, kLayerX = 1, kLayerW = 2, kLayerDx = 3, kLayerDw = 4;

}  // namespace sptile::runtime
