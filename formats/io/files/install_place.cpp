#include "formats/io/files/install_place.hpp"

#include <cstdint>
#include <cstdio>
#include <fstream>

namespace sptile::formats {
namespace {

// Returns the prefix of a path that ends with `end`; empty if the path does not end with it.
std::string root_of(std::string path, std::string_view end) {
  if (end.ends_with("/*")) return root_of(path.substr(0, path.rfind('/')), end.substr(0, end.size() - 2));
  if (!path.ends_with("/" + std::string(end))) return {};
  path.resize(path.size() - end.size());
  return path;
}

}  // namespace

std::string own_folder() {
  const auto here = reinterpret_cast<std::uintptr_t>(&own_folder);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long first = 0, last = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &first, &last) != 2 || here < first || here >= last) continue;
    const std::size_t path = line.find('/');
    return path == line.npos ? std::string() : line.substr(path, line.rfind('/') - path);
  }
  return {};
}

std::vector<std::string> installed_paths(std::span<const InstallPlace> places) {
  const std::string folder = own_folder();
  std::vector<std::string> paths;
  for (const InstallPlace& place : places)
    if (const std::string root = root_of(folder, place.folder); !root.empty())
      paths.push_back(root + std::string(place.file));
  return paths;
}

}  // namespace sptile::formats
