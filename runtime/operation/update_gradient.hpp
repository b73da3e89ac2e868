// The way back through the update of a layer, C = act(alpha Z W + bias): G = dC act'(C), dW = alpha Z^T G,
// dbias = sums of the columns of G. Of A it reads the number of rows alone.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kUpdateGradient;

/// Places of its operands.
inline constexpr int kGradientZ = 0, kGradientDc = 1, kGradientC = 2, kGradientG = 3, kGradientDbias = 4,
                     kGradientDw = 5;

}  // namespace sptile::runtime
