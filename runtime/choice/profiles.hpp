// Which profile goes with a device: the file that SPTILE_PROFILE names, the user's own, or a built-in one.
#pragma once

#include <optional>
#include <string>

#include "runtime/choice/device_profile.hpp"
#include "runtime/cuda/device_kernel.hpp"

namespace sptile::runtime {

/// Describes what plans run on; `device` is read for Device::cuda alone.
ProfileDevice profile_device(Device kind, const cuda::DeviceInfo& device);

/// Finds the profile for a device. In this order: the file named by the environment variable SPTILE_PROFILE,
/// when it is for the same kind of device; a file of profile_folder() or a built-in profile that has the
/// device's name, the user's first; the one of the nearest compute capability, the user's first. Nothing when
/// there is none for this kind. Errc::bad_input for a file that is no profile, Errc::io when it cannot be
/// read.
Result<std::optional<DeviceProfile>> find_profile(const ProfileDevice& device);

/// The folder of the user's profiles: $XDG_CONFIG_HOME/sptile/profiles, or ~/.config/sptile/profiles. Empty
/// when neither variable is set.
std::string profile_folder();

/// Name that `sptile calibrate` gives a profile in that folder: the device's, in letters that suit a file.
std::string profile_file_name(const ProfileDevice& device);

}  // namespace sptile::runtime
