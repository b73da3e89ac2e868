// Measurements of a calibration: the matrices of the suite, and those of the user.
#pragma once

#include <string>
#include <vector>

#include "runtime/core/options.hpp"
#include "runtime/operation/operation.hpp"
#include "tools/calibrate/sampling.hpp"
#include "tools/cli/input_options.hpp"
#include "tools/cli/verb.hpp"

namespace sptile::tools {

/// Kernels and matrices to measure.
struct CalibrationScope {
  runtime::Device device = runtime::Device::cpu;
  std::vector<const runtime::Operation*> operations;
  std::vector<std::string> kernels;  ///< empty: all kernels that plans choose from
  std::vector<std::string> inputs;   ///< matrix files in addition to the suite
  InputOptions input;                ///< options for those files
  bool quick = false;                ///< fewer and smaller matrices
  bool suite = true;                 ///< measure the suite
};

/// Runs all measurements. Errors as for load_matrix and sample_matrix, Errc::io if cancelled.
Result<Measurements> measure(Session& session, const CalibrationScope& scope);

}  // namespace sptile::tools
