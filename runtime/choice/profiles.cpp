#include "runtime/choice/profiles.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

namespace sptile::runtime {
namespace {

/// Texts of the profiles in profiles/, made by the build.
constexpr std::string_view kBuiltIn[] = {
#include "runtime/choice/cpu.inc"
#include "runtime/choice/h100.inc"
#include "runtime/choice/h200.inc"
};

constexpr std::size_t kMostFiles = 256;
constexpr const char* kVariable = "SPTILE_PROFILE";

std::string environment(const char* name) {
  const char* const value = secure_getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// The user's profiles, by name of the file.
Result<std::vector<DeviceProfile>> user_profiles() {
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator at(profile_folder(), error), end; !error && at != end;
       at.increment(error))
    if (at->path().extension() == ".tsv") paths.push_back(at->path().string());
  std::sort(paths.begin(), paths.end());
  if (paths.size() > kMostFiles) paths.resize(kMostFiles);
  std::vector<DeviceProfile> profiles;
  for (const std::string& path : paths) {
    Result<DeviceProfile> profile = read_profile(path);
    if (!profile) return tl::unexpected(profile.error());
    profiles.push_back(std::move(*profile));
  }
  return profiles;
}

/// Appends the built-in ones.
Status add_built_in(std::vector<DeviceProfile>& profiles) {
  for (const std::string_view text : kBuiltIn) {
    Result<DeviceProfile> profile = parse_profile(text, std::string(kBuiltInSource));
    if (!profile) return fail(Errc::internal, profile.error().text());
    profiles.push_back(std::move(*profile));
  }
  return {};
}

/// Brand of the processor; "CPU" where the system does not tell.
std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos && colon + 2 < line.size())
      return line.substr(colon + 2, 256);
  }
  return "CPU";
}

}  // namespace

ProfileDevice profile_device(Device kind, const cuda::DeviceInfo& device) {
  if (kind == Device::cpu) return ProfileDevice{kind, 0, cpu_name()};
  return ProfileDevice{kind, device.capability, device.name};
}

std::string profile_folder() {
  std::string folder = environment("XDG_CONFIG_HOME");
  if (folder.empty() || folder.front() != '/') {
    folder = environment("HOME");
    if (folder.empty()) return {};
    folder += "/.config";
  }
  return folder + "/sptile/profiles";
}

std::string profile_file_name(const ProfileDevice& device) {
  std::string name;
  for (const char c : device.name.substr(0, 64)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain) name += c;
    if (!plain && !name.empty() && name.back() != '-') name += '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return (name.empty() ? "device" : name) + ".tsv";
}

Result<std::optional<DeviceProfile>> find_profile(const ProfileDevice& device) {
  if (const std::string path = environment(kVariable); !path.empty()) {
    Result<DeviceProfile> profile = read_profile(path);
    if (!profile)
      return fail(profile.error().code, profile.error().message,
                  std::string(kVariable) + ": " + profile.error().where);
    if (profile->device.kind == device.kind) return std::move(*profile);
  }
  Result<std::vector<DeviceProfile>> profiles = user_profiles();
  if (!profiles) return tl::unexpected(profiles.error());
  if (Status s = add_built_in(*profiles); !s) return tl::unexpected(s.error());
  const auto distance = [&](const DeviceProfile& profile) {
    if (profile.device.name == device.name) return -1;
    return std::abs(profile.device.capability - device.capability);
  };
  std::optional<DeviceProfile> best;
  for (DeviceProfile& profile : *profiles)
    if (profile.device.kind == device.kind && (!best || distance(profile) < distance(*best)))
      best = std::move(profile);
  return best;
}

}  // namespace sptile::runtime
