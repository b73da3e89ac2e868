// The profile that a calibration starts from, and the one that it writes.
#pragma once

#include <string>
#include <vector>

#include "runtime/choice/device_profile.hpp"

namespace sptile::tools {

/// Where the profile goes: to `out`, else to `into`, else to the folder where plans look for it, which is
/// made. Errc::usage when there is no such folder, Errc::io when it cannot be made.
Result<std::string> profile_path(const std::string& into, const std::string& out,
                                 const runtime::ProfileDevice& device);

/// The profile whose numbers stay where nothing new is measured: the file `into`, else that used until now;
/// without numbers when there is none of the device. One in use that cannot be read has none, either.
/// Errc::bad_input when `into` is of another device; other errors as runtime::read_profile.
Result<runtime::DeviceProfile> known_profile(const std::string& into, const runtime::ProfileDevice& device);

/// What people wrote, and earlier calibrations, into a file; nothing when the path is empty.
std::vector<std::string> profile_comments(const std::string& path);

}  // namespace sptile::tools
