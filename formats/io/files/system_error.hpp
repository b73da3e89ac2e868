// Conversion of errno to an Error.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include "formats/core/error.hpp"

namespace sptile::formats {

/// Returns the Errc::io error "WHAT: REASON" about `path` for an errno value.
[[nodiscard]] inline tl::unexpected<Error> system_failure(int errnum, std::string_view what,
                                                          std::string path) {
  return fail(Errc::io, std::string(what) + ": " + std::generic_category().message(errnum), std::move(path));
}

}  // namespace sptile::formats
