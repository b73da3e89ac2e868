// Plot of the rows of `bench`.
#pragma once

#include <string>

#include "tools/cli/result.hpp"

namespace sptile::tools {

/// Plots GFLOP/s: a panel per N, a line per matrix, a dot per format and precision, with the fastest of
/// several kernels and of cuSPARSE's algorithms. With several orderings, or cold and warm caches, the series
/// names include them.
std::string bench_plot(const Json& rows);

}  // namespace sptile::tools
