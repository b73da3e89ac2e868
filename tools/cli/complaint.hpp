// Reporting of errors on stderr.
#pragma once

#include <string>

#include "formats/core/error.hpp"

namespace sptile::tools {

/// Prints "file:line: what", or "sptile verb: what" for errors without a place. Returns the exit code.
int complain(const std::string& verb, const Error& error);

}  // namespace sptile::tools
