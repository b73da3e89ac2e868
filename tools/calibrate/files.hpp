// Files of a calibration: the initial profile, and the outputs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/io/files/atomic_file.hpp"
#include "runtime/choice/device_profile.hpp"

namespace sptile::tools {

/// Paths as typed; empty: not given.
struct CalibrationPaths {
  std::string into, out, samples;
  bool force = false;
};

struct CalibrationFiles {
  std::string path;                   ///< path of the output profile
  runtime::DeviceProfile known;       ///< initial profile, whose numbers are kept unless measured again
  std::vector<std::string> comments;  ///< comments of the --into file
  std::unique_ptr<formats::OutputGroup> outputs;  ///< both output files
  formats::AtomicFile profile;
  std::optional<formats::AtomicFile> samples;

  /// Writes the requested files, both or none, and commits them.
  Status write(const std::string& profile_text, const std::string& samples_text);
};

/// Opens the files early, before measuring.
///
/// The profile is written to `out`, otherwise to `into`, otherwise to the directory where plans search for
/// it, which is created (Errc::usage if it is not defined, Errc::io if it cannot be created); there, and in
/// `into`, the old one is replaced. The initial profile is `into` (Errc::bad_input if it is for another
/// device; other errors as for runtime::read_profile), otherwise the one in use, and empty if there is none
/// for the device or it cannot be read.
Result<CalibrationFiles> open_files(const CalibrationPaths& paths, const runtime::ProfileDevice& device);

}  // namespace sptile::tools
