// Prints the rows of a benchmark while it runs.
#pragma once

#include "tools/measure/benchmark.hpp"

namespace sptile::tools {

/// Sets task.observe so that each row is printed when it is measured, because a benchmark may take hours.
/// Does nothing with --json.
void print_rows(const Session& session, BenchTask& task);

}  // namespace sptile::tools
