// Names of temporary files, ".NAME.sptile-RANDOM.tmp" in the folder of the target.
#pragma once

#include <string>
#include <string_view>

namespace sptile::formats {

struct SplitPath {
  std::string folder;  ///< with a final slash; "" is the working directory
  std::string name;
};

SplitPath split_path(const std::string& path);

/// Returns a new temporary name for the target, whose name is truncated to 100 bytes.
std::string random_temporary(std::string_view target);

/// Returns whether random_temporary could have returned `name` for the target. Targets that agree in the
/// first 100 bytes share names, which is harmless because a lock shows whether one is in use.
bool is_temporary_of(std::string_view target, std::string_view name);

/// Returns whether `name` in the folder still refers to the file open as `fd`.
bool is_still(int folder, const char* name, int fd);

}  // namespace sptile::formats
