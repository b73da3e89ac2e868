// C = act(alpha (A B) W + bias): a layer of a graph network, or the way back through one. Z = A B is kept for
// those who ask for it.
//
// The gradient of B is the same operation: dB = (A^T G) W^T, on the transpose of A with transposed_weights.
// Those of W and the bias: update_gradient.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kSpmmUpdate;

/// Places of its operands.
inline constexpr int kUpdateB = 0, kUpdateW = 1, kUpdateBias = 2, kUpdateZ = 3, kUpdateC = 4;

}  // namespace sptile::runtime
