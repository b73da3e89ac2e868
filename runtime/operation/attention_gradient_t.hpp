// The gradient of attention with respect to rows of Y and V, the columns of A: a plan of its transpose.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kAttentionGradientT;

}  // namespace sptile::runtime
