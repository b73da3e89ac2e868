// A child process finds out what a library may crash on.
#pragma once

#include <functional>

namespace sptile::formats {

/// Runs `action`, which keeps nothing, in a child of this process; false when the child crashed. True where
/// no child can be had: then nobody knows. The child has what this process has, but only this thread.
[[nodiscard]] bool survives(const std::function<void()>& action);

}  // namespace sptile::formats
