// Values that a narrower type cannot hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/csr_view.hpp"
#include "formats/error.hpp"

namespace sptile::tools {

/// Finite values that became infinite.
struct Overflow {
  std::int64_t count = 0;
  std::optional<Error> first;  ///< Errc::bad_input, with its place and value

  Overflow& operator+=(const Overflow& later);
};

/// Compares the values of a matrix, in its original row order, with what they were rounded to; `source` names
/// its file.
Overflow find_overflow(const formats::CsrView& a, ArrayView rounded, const std::string& source);

}  // namespace sptile::tools
