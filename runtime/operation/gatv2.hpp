// GATv2 attention (Brody et al. 2022): out = softmax(alpha * a . leaky_relu(x_i + y_j + e_ij) + bias) Y at
// the entries of A, where each weight is multiplied by a factor after the softmax. Its gradient for rows (X,
// a, edges) and, with a plan of the transpose, for columns (Y).
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kGatv2;
extern const Operation kGatv2Gradient;
extern const Operation kGatv2GradientT;

}  // namespace sptile::runtime
