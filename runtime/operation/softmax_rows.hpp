// P = softmax of the rows of alpha * S.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kSoftmaxRows;

}  // namespace sptile::runtime
