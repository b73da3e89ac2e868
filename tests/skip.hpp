// How a test says that it cannot be done here.
#pragma once

#include <string>

namespace sptile {

/// Says loudly what is missing; the caller returns. A binary in which anything was skipped ends with 77,
/// which test runners count as skipped, unless something failed.
void skip(const std::string& missing);

}  // namespace sptile
