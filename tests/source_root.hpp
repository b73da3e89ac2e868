// Location of the project's files.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace sptile {

/// Returns the root of the source tree from the environment variable that the build sets for tests.
inline std::filesystem::path source_root() {
  const char* const root = std::getenv("SPTILE_SOURCE_ROOT");
  if (root == nullptr)
    throw std::runtime_error("SPTILE_SOURCE_ROOT is not set; run the tests with meson test");
  return root;
}

}  // namespace sptile
