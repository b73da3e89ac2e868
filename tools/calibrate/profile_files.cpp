#include "tools/calibrate/profile_files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "runtime/choice/profiles.hpp"

namespace sptile::tools {

Result<std::string> profile_path(const std::string& into, const std::string& out,
                                 const runtime::ProfileDevice& device) {
  if (!out.empty()) return out;
  if (!into.empty()) return into;
  const std::string folder = runtime::profile_folder();
  if (folder.empty())
    return fail(Errc::usage, "no folder for profiles: set XDG_CONFIG_HOME or HOME, or name a file with -o");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(Errc::io, fmt::format("cannot be made: {}", error.message()), folder);
  return folder + "/" + runtime::profile_file_name(device);
}

Result<runtime::DeviceProfile> known_profile(const std::string& into, const runtime::ProfileDevice& device) {
  if (into.empty()) {
    auto used = runtime::find_profile(device);
    if (used && *used && (*used)->device.name == device.name) return std::move(**used);
    return runtime::DeviceProfile{device, {}, {}};
  }
  auto named = runtime::read_profile(into);
  if (named && (named->device.kind != device.kind || named->device.name != device.name))
    return fail(Errc::bad_input,
                fmt::format("is a profile of {}, what is measured is {}", named->device.name, device.name),
                into);
  return named;
}

std::vector<std::string> profile_comments(const std::string& path) {
  std::vector<std::string> comments;
  if (path.empty()) return comments;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("# ")) comments.push_back(line.substr(2));
  return comments;
}

}  // namespace sptile::tools
