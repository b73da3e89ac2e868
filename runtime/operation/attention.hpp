// out = softmax(alpha * score(x_i, y_j) + bias) V at the entries of A.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kAttention;

}  // namespace sptile::runtime
