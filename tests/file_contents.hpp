// Contents of files and directories.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace sptile {

/// Returns the bytes of a file; empty if it cannot be opened.
inline std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the number of entries of a directory.
inline long files_in(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

}  // namespace sptile
