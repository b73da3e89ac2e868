// The gradient of attention with respect to rows of X and the bias; delta for that of the columns.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kAttentionGradient;

}  // namespace sptile::runtime
