// edge_add, a toy operation: for each entry (i, j) of A the sum of row i of X and row j of Y, as edge scores
// in graph attention: out = alpha * (sum of X_i + sum of Y_j) + beta * out.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kEdgeAdd;

}  // namespace sptile::runtime
