// Finds files that were built or installed together with this code.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sptile::formats {

/// A folder of commands and libraries ("*" as its last part: any name), and a file below the same root.
struct InstallPlace {
  std::string_view folder, file;
};

/// Returns the folder of the program or library that contains this function, as the kernel names it; empty if
/// the kernel does not.
std::string own_folder();

/// Returns the paths of the files whose folder is own_folder(), in the order of `places`. No variable and no
/// search path takes part.
std::vector<std::string> installed_paths(std::span<const InstallPlace> places);

}  // namespace sptile::formats
