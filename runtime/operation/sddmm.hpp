// Dot products of rows of X and Y, sampled where A has entries: out = alpha * (X Y^T) at A + beta * out.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kSddmm;

}  // namespace sptile::runtime
