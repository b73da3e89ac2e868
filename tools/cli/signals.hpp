// Cleanup on signals: SIGINT, SIGTERM, SIGHUP, SIGXFSZ, and SIGBUS of a mapped file leave no half-written
// files.
#pragma once

namespace sptile::tools {

/// Installs the handlers. The first three signals remove the temporary files of this process, clear the
/// progress line if `painting`, and then kill the process by the same signal, which shells report. SIGXFSZ,
/// the file size limit, is ignored, so that writing fails with EFBIG. SIGBUS in a mapped file that was
/// truncated removes the temporary files, prints the file name to stderr and exits with Errc::io.
void clean_up_on_signals(bool painting);

}  // namespace sptile::tools
