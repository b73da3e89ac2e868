// The rows of `bench` as a plot.
#pragma once

#include <string>

#include "tools/cli/result.hpp"

namespace sptile::tools {

/// Draws GFLOP/s: a panel for each N, a line for each matrix, a dot for each format and precision; of several
/// kernels, and of cuSPARSE's algorithms, the fastest. With several orderings, or cold caches beside warm
/// ones, the series say which.
std::string bench_plot(const Json& rows);

}  // namespace sptile::tools
