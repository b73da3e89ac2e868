// Detects processes created by fork: they lack the parent's threads but inherit the locks those threads held.
#pragma once

namespace sptile {

/// Returns the number of forks between the process that loaded the library and this one.
int forks() noexcept;

}  // namespace sptile
