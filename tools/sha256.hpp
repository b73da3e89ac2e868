// SHA-256 of a file, for records of where a matrix came from.
#pragma once

#include <string>

#include "formats/error.hpp"

namespace sptile::tools {

/// Gives the hash in lower-case hex; Errc::io when the file cannot be read.
Result<std::string> sha256_of_file(const std::string& path);

}  // namespace sptile::tools
