// The files of a calibration: the profile that it starts from, and what it writes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/io/files/atomic_file.hpp"
#include "runtime/choice/device_profile.hpp"

namespace sptile::tools {

/// As typed; empty: not given.
struct CalibrationPaths {
  std::string into, out, samples;
  bool force = false;
};

struct CalibrationFiles {
  std::string path;              ///< of the profile that is written
  runtime::DeviceProfile known;  ///< its numbers stay where nothing new is measured
  std::vector<std::string>
      comments;  ///< what people wrote, and earlier calibrations, into the file of --into
  std::unique_ptr<formats::OutputGroup> outputs;  ///< of both
  formats::AtomicFile profile;
  std::optional<formats::AtomicFile> samples;

  /// Writes what is wanted of them, both or none; they are done then.
  Status write(const std::string& profile_text, const std::string& samples_text);
};

/// Opens them, before anything that takes long.
///
/// The profile goes to `out`, else to `into`, else to the folder where plans look for it, which is made
/// (Errc::usage when there is no such folder, Errc::io when it cannot be made); there, and in `into`, the old
/// one is replaced. It starts from `into` (Errc::bad_input when that is of another device; other errors as
/// runtime::read_profile), else from that used until now, without numbers when there is none of the device or
/// it cannot be read.
Result<CalibrationFiles> open_files(const CalibrationPaths& paths, const runtime::ProfileDevice& device);

}  // namespace sptile::tools
