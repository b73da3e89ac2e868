// Names of what is not finished yet: ".NAME.sptile-RANDOM.tmp", beside what it becomes.
#pragma once

#include <string>
#include <string_view>

namespace sptile::formats {

struct SplitPath {
  std::string folder;  ///< with its final slash; "" is the working folder
  std::string name;
};

SplitPath split_path(const std::string& path);

/// A new name for a temporary of the target; of its name the first 100 bytes.
std::string random_temporary(std::string_view target);

/// Whether a name is one that random_temporary gives to the target. Targets whose names differ only behind
/// 100 bytes share theirs. That harms nobody: a lock says whether one is in use.
bool is_temporary_of(std::string_view target, std::string_view name);

/// True while `name` in the folder is what is open as `fd`, and not something that somebody put there.
bool is_still(int folder, const char* name, int fd);

}  // namespace sptile::formats
