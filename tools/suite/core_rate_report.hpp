// Report of the throughput of both kinds of cores.
#pragma once

#include <span>
#include <string>

#include "tools/cli/result.hpp"
#include "tools/cuda/core_rates.hpp"

namespace sptile::tools {

/// Returns one element per ratio and mode: tensor cores only, CUDA cores only, sequential, concurrent, and
/// theoretical, the maximum of the first two times. `tflops` counts the operations that the mode does.
Json to_json(std::span<const CoreRate> rates);

/// Returns a table of to_json, titled with the suite and the experiment.
std::string core_rates_text(const Json& rates, const std::string& title);

}  // namespace sptile::tools
