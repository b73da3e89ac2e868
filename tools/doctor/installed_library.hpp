// CUDA support of the libsptile that is installed with a command without CUDA kernels, as in a wheel.
#pragma once

#include <optional>
#include <string>

namespace sptile::tools::doctor {

struct InstalledLibrary {
  std::string path;
  bool cuda = false;      ///< contains CUDA kernels
  std::string no_device;  ///< reason why none of its CUDA kernels can run here; empty if they can
};

/// Loads a libsptile and plans a tiny product for CUDA with it, without running it. Returns nullopt if the
/// file is not a libsptile that can be loaded.
std::optional<InstalledLibrary> inspect_library(const std::string& path);

/// Inspects the libsptile of the wheel, installation or build directory of this command.
std::optional<InstalledLibrary> find_installed_library();

}  // namespace sptile::tools::doctor
