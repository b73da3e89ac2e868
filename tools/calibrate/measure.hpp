// Measures what a calibration is to cover: the matrices of the suite, and those of the user.
#pragma once

#include <string>
#include <vector>

#include "runtime/core/options.hpp"
#include "runtime/operation/operation.hpp"
#include "tools/calibrate/sampling.hpp"
#include "tools/cli/input_options.hpp"
#include "tools/cli/verb.hpp"

namespace sptile::tools {

/// What is measured, and how thoroughly.
struct CalibrationScope {
  runtime::Device device = runtime::Device::cpu;
  std::vector<const runtime::Operation*> operations;
  std::vector<std::string> kernels;  ///< empty: all that plans choose from
  std::vector<std::string> inputs;   ///< matrix files besides the suite
  InputOptions input;                ///< how these are read
  bool quick = false;                ///< fewer and smaller matrices
};

/// Measures all of it; errors as load_matrix and sample_matrix, Errc::io when cancelled.
Result<Measurements> measure(Session& session, const CalibrationScope& scope);

}  // namespace sptile::tools
