#include "formats/io/hdf5/helper_path.hpp"

#include <unistd.h>

#include "formats/io/files/install_place.hpp"

namespace sptile::formats {
namespace {

constexpr std::string_view kInstalled = SPTILE_HELPER_FOLDER "/sptile-hdf5",
                           kInWheel = "sptile.helper/sptile-hdf5", kBuilt = "formats/hdf5_helper/sptile-hdf5";
constexpr InstallPlace kPlaces[] = {
    {SPTILE_BINDIR, kInstalled},
    {SPTILE_LIBDIR, kInstalled},
    // Wheels: libraries, and commands as moved by auditwheel.
    {".sptile.mesonpy.libs", kInWheel},
    {"sptile.libs", kInWheel},
    {"sptile.scripts", kInWheel},
    // Build directory.
    {"tools", kBuilt},
    {"tools/capi", kBuilt},
    {"tests", kBuilt},
    {"tests/*", kBuilt},
};

}  // namespace

Result<std::string> helper_path() {
  std::vector<std::string> paths = installed_paths(kPlaces);
  paths.insert(paths.begin(), own_folder() + "/sptile-hdf5");
  std::string tried;
  for (std::string& path : paths) {
    if (::access(path.c_str(), X_OK) == 0) return std::move(path);
    tried += (tried.empty() ? "" : ", ") + path;
  }
  return fail(Errc::io, "sptile-hdf5, which reads and writes HDF5 for sptile, is missing (" + tried +
                            "); reinstall sptile");
}

}  // namespace sptile::formats
