// Numbers that a reference computes.
#pragma once

#include <cstdint>
#include <functional>

#include "formats/core/dtype.hpp"

namespace sptile::runtime {

/// An element of a result, and the value to which its rounding errors are proportional.
struct ReferenceNumber {
  double value = 0, scale = 0;
  double slack = 0;  ///< tolerated distance from the value, for kernels that round intermediate results
};

/// Receives element `at` of a result with its type.
using ResultSink = std::function<void(void* data, DType type, std::int64_t at, const ReferenceNumber&)>;

}  // namespace sptile::runtime
