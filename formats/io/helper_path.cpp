#include "formats/io/helper_path.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string_view>

namespace sptile::formats {
namespace {

constexpr std::string_view kProgram = "sptile-hdf5";

/// A folder of commands and libraries (*: any name), and where the helper's folder is from the same root.
struct PlaceRow {
  std::string_view folder, helper_folder;
};
constexpr std::string_view kBuilt = "formats/hdf5";
constexpr PlaceRow kPlaces[] = {
    {SPTILE_BINDIR, SPTILE_HELPER_FOLDER},
    {SPTILE_LIBDIR, SPTILE_HELPER_FOLDER},
    // wheels: libraries, and commands as auditwheel moves them
    {".sptile.mesonpy.libs", "sptile.helper"},
    {"sptile.libs", "sptile.helper"},
    {"sptile.scripts", "sptile.helper"},
    // the build folder
    {"tools", kBuilt},
    {"tools/capi", kBuilt},
    {"tests", kBuilt},
    {"tests/*", kBuilt},
};

/// The file that this function was loaded from, as the kernel names it.
std::string own_file() {
  const auto here = reinterpret_cast<std::uintptr_t>(&own_file);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long first = 0, last = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &first, &last) != 2 || here < first || here >= last) continue;
    const std::size_t path = line.find('/');
    return path == line.npos ? std::string() : line.substr(path);
  }
  return {};
}

/// What is in front of `end` in a path that ends with it; empty where it does not.
std::string root_of(std::string path, std::string_view end) {
  if (end.ends_with("/*")) return root_of(path.substr(0, path.rfind('/')), end.substr(0, end.size() - 2));
  if (!path.ends_with("/" + std::string(end))) return {};
  path.resize(path.size() - end.size());
  return path;
}

}  // namespace

Result<std::string> helper_path() {
  const std::string own = own_file();
  const std::string folder = own.substr(0, own.rfind('/') == own.npos ? 0 : own.rfind('/'));
  std::string tried;
  const auto is_there = [&](const std::string& path) {
    tried += (tried.empty() ? "" : ", ") + path;
    return ::access(path.c_str(), X_OK) == 0;
  };
  if (std::string path = folder + "/" + std::string(kProgram); is_there(path)) return path;
  for (const PlaceRow& row : kPlaces) {
    const std::string root = root_of(folder, row.folder);
    if (root.empty()) continue;
    std::string path = root + std::string(row.helper_folder) + "/" + std::string(kProgram);
    if (is_there(path)) return path;
  }
  return fail(Errc::io, "sptile-hdf5, which reads and writes HDF5 for sptile, is missing (" + tried +
                            "); install sptile again");
}

}  // namespace sptile::formats
