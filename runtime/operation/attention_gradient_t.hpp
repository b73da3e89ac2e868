// Gradient of attention with respect to Y and V, planned with the transpose of A.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kAttentionGradientT;

}  // namespace sptile::runtime
