// How an error is told on stderr.
#pragma once

#include <string>

#include "formats/core/error.hpp"

namespace sptile::tools {

/// Prints "file:line: what" where a place is known, "sptile verb: what" where none is; gives the exit code.
int complain(const std::string& verb, const Error& error);

}  // namespace sptile::tools
