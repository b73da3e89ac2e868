// Selection of the profile of a device: the file in SPTILE_PROFILE, a user profile, or a built-in one.
#pragma once

#include <optional>
#include <string>

#include "runtime/choice/device_profile.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime {

/// Returns the device that plans run on; `device` is read for Device::cuda only.
ProfileDevice profile_device(Device kind, const cuda::DeviceInfo& device);

/// Returns the profile for a device, in this order: the file in the environment variable SPTILE_PROFILE, if
/// it is for the same kind of device; a file of profile_folder() or a built-in profile with the device's
/// name, the user's first; the one with the nearest compute capability, the user's first. Nullopt if there is
/// none for this kind. Errc::bad_input for an invalid profile, Errc::io if it cannot be read.
Result<std::optional<DeviceProfile>> find_profile(const ProfileDevice& device);

/// Returns an environment variable; empty if it is not set, or if the program has raised privileges.
std::string environment(const char* name);

/// Returns the directory `sptile` in the directory that an environment variable names, if that is absolute,
/// otherwise in ~/in_home. Empty if HOME is not set either.
std::string user_folder(const char* variable, const char* in_home);

/// Returns the directory of the user's profiles: $XDG_CONFIG_HOME/sptile/profiles or
/// ~/.config/sptile/profiles. Empty if neither variable is set.
std::string profile_folder();

/// Returns the file name of a profile in that directory, in which `sptile calibrate` writes it: the device's
/// name with characters replaced that do not suit file names.
std::string profile_file_name(const ProfileDevice& device);

}  // namespace sptile::runtime
