// Gradient of the dense part of a layer, C = act(alpha Z W + bias): G = dC act'(C), dW = alpha Z^T G, dbias =
// column sums of G. Reads only the number of rows of A.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kUpdateGradient;

/// Operand indices.
inline constexpr int kGradientZ = 0, kGradientDc = 1, kGradientC = 2, kGradientG = 3, kGradientDbias = 4,
                     kGradientDw = 5;

}  // namespace sptile::runtime
