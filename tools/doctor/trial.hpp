// Products of a small matrix with every kernel that this machine runs, compared with the reference.
#pragma once

#include <string>
#include <vector>

#include "formats/core/csr.hpp"
#include "runtime/core/options.hpp"
#include "tools/cli/verb.hpp"

namespace sptile::tools::doctor {

struct Trial {
  runtime::Device device = runtime::Device::cpu;
  int products = 0;                   ///< that were run and agree
  std::vector<std::string> failures;  ///< a line each: what did not run, or whose result is wrong
};

/// The matrix of the trial: odd sizes, an empty row, a full one.
formats::Csr trial_matrix();

/// Runs every operation with every format and kernel on the device, f32 values and operands. Milliseconds on
/// a CPU.
Trial try_kernels(Session& session, runtime::Device device);

}  // namespace sptile::tools::doctor
