// The default case of switches over value types, which checks of the input make unreachable.
#pragma once

#include <stdexcept>
#include <string>

#include "formats/core/dtype.hpp"

namespace sptile {

/// Throws std::logic_error, so that memory is never read as a wrong type.
[[noreturn]] inline void no_value_type(DType dtype) {
  throw std::logic_error(std::string(name_of(dtype)) + " is not a value type");
}

}  // namespace sptile
