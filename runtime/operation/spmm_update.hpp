// C = act(alpha (A B) W + bias): a layer of a graph neural network, or its gradient. Z = A B is an optional
// result.
//
// The gradient of B is the same operation: dB = (A^T G) W^T, planned with A^T and transposed_weights. For the
// gradients of W and the bias, see update_gradient.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kSpmmUpdate;

/// Operand indices.
inline constexpr int kUpdateB = 0, kUpdateW = 1, kUpdateBias = 2, kUpdateZ = 3, kUpdateC = 4;

}  // namespace sptile::runtime
