// Signals leave no half-written files: SIGINT, SIGTERM, SIGHUP, SIGXFSZ, and SIGBUS of a mapped file.
#pragma once

namespace sptile::tools {

/// From now on the first three remove the temporaries of this process, clear the progress line if `painting`,
/// and then kill it as they would have (so shells see the signal, not an exit code). SIGXFSZ, the limit on
/// the size of files, is ignored: writing fails with EFBIG instead. SIGBUS in a mapped file, which became
/// shorter, removes the temporaries, names the file on stderr and ends the process with Errc::io.
void clean_up_on_signals(bool painting);

}  // namespace sptile::tools
