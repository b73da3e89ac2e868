// What a reference computes, number by number.
#pragma once

#include <cstdint>
#include <functional>

#include "formats/core/dtype.hpp"

namespace sptile::runtime {

/// One element of a result, and what its rounding errors are proportional to.
struct ReferenceNumber {
  double value = 0, scale = 0;
  double slack = 0;  ///< distance from the value that is no error: a kernel may have rounded what led to it
};

/// Takes element `at` of a result of a type.
using ResultSink = std::function<void(void* data, DType type, std::int64_t at, const ReferenceNumber&)>;

}  // namespace sptile::runtime
