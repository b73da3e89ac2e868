#include "tools/calibrate/files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "runtime/choice/profiles.hpp"

namespace sptile::tools {
namespace {

Result<std::string> profile_path(const CalibrationPaths& paths, const runtime::ProfileDevice& device) {
  if (!paths.out.empty()) return paths.out;
  if (!paths.into.empty()) return paths.into;
  const std::string folder = runtime::profile_folder();
  if (folder.empty())
    return fail(Errc::usage,
                "no directory for profiles: set XDG_CONFIG_HOME or HOME, or name a file with -o");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(Errc::io, fmt::format("cannot be created: {}", error.message()), folder);
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
    return fail(
        Errc::bad_input,
        fmt::format("is a profile of {}, but the measured device is {}", named->device.name, device.name),
        into);
  return named;
}

std::vector<std::string> comments_in(const std::string& path) {
  std::vector<std::string> comments;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("# ")) comments.push_back(line.substr(2));
  return comments;
}

Status write_text(formats::AtomicFile& file, const std::string& text) {
  Status s = file.write(text);
  return s ? file.commit() : s;
}

}  // namespace

Result<CalibrationFiles> open_files(const CalibrationPaths& paths, const runtime::ProfileDevice& device) {
  auto path = profile_path(paths, device);
  if (!path) return tl::unexpected(path.error());
  auto known = known_profile(paths.into, device);
  if (!known) return tl::unexpected(known.error());
  auto comments = paths.into.empty() ? std::vector<std::string>() : comments_in(paths.into);
  const bool force = paths.force || paths.out.empty();  // the user's own profile is replaced without --force
  auto outputs = std::make_unique<formats::OutputGroup>();
  auto profile = formats::AtomicFile::create(*path, {force, outputs.get()});
  if (!profile) return tl::unexpected(profile.error());
  CalibrationFiles files{std::move(*path),   std::move(*known),   std::move(comments),
                         std::move(outputs), std::move(*profile), {}};
  if (paths.samples.empty()) return files;
  auto samples = formats::AtomicFile::create(paths.samples, {paths.force, files.outputs.get()});
  if (!samples) return tl::unexpected(samples.error());
  files.samples = std::move(*samples);
  return files;
}

Status CalibrationFiles::write(const std::string& profile_text, const std::string& samples_text) {
  Status s = samples ? write_text(*samples, samples_text) : Status();
  if (s) s = write_text(profile, profile_text);
  return s ? outputs->commit() : s;
}

}  // namespace sptile::tools
