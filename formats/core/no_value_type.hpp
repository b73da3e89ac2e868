// What a dispatch over types of values does with any other type: checks refuse it long before.
#pragma once

#include <stdexcept>
#include <string>

#include "formats/core/dtype.hpp"

namespace sptile {

/// Throws std::logic_error: memory must never be taken for a type that it does not hold.
[[noreturn]] inline void no_value_type(DType dtype) {
  throw std::logic_error(std::string(name_of(dtype)) + " is not a value type");
}

}  // namespace sptile
