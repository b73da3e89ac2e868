// C = alpha * A * B + beta * C.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kSpmm;

}  // namespace sptile::runtime
