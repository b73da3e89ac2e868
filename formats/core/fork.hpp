// Whether this process was made by fork: threads of its parent are not in it, but what they held is.
#pragma once

namespace sptile {

/// Counts the forks between the process that loaded the library and this one: 0 where it was loaded.
int forks() noexcept;

}  // namespace sptile
