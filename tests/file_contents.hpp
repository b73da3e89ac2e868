// What tests find in files and folders.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace sptile {

/// The bytes of a file; none if it cannot be opened.
inline std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The number of entries of a folder.
inline long files_in(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

}  // namespace sptile
