// dS = alpha * P * (dP - sum over the row of P dP).
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kSoftmaxRowsGradient;

}  // namespace sptile::runtime
