// Gradient of attention with respect to X and the bias, and delta, which attention_gradient_t reads.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kAttentionGradient;

}  // namespace sptile::runtime
