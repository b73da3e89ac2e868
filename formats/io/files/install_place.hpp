// Locates files that were built or installed together with this library.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sptile::formats {

/// A folder of commands or libraries (a last component "*" matches any name), and a file relative to the same
/// root.
struct InstallPlace {
  std::string_view folder, file;
};

/// Returns the folder of the program or library that contains this function, as reported by the kernel; empty
/// if unknown.
std::string own_folder();

/// Returns the paths of the files whose folder is own_folder(), in the order of `places`. Ignores environment
/// variables and search paths.
std::vector<std::string> installed_paths(std::span<const InstallPlace> places);

}  // namespace sptile::formats
