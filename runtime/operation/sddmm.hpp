// SDDMM: dot products of rows of X and Y at the entries of A: out = alpha * (X Y^T) at A + beta * out.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kSddmm;

}  // namespace sptile::runtime
