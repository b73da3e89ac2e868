// SIGINT, SIGTERM and SIGHUP leave no half-written files.
#pragma once

namespace sptile::tools {

/// From now on these signals remove the temporaries of this process, clear the progress line if `painting`,
/// and then kill it as they would have (so shells see the signal, not an exit code).
void clean_up_on_signals(bool painting);

}  // namespace sptile::tools
