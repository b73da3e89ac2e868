// Skipped tests.
#pragma once

#include <string>

namespace sptile {

/// Reports a missing requirement; the caller returns. A binary with skips exits with 77, which test runners
/// count as skipped, unless a check failed.
void skip(const std::string& missing);

}  // namespace sptile
