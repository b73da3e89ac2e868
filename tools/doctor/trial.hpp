// Products of a small matrix with every kernel of this machine, compared with the reference.
#pragma once

#include <string>
#include <vector>

#include "formats/core/csr.hpp"
#include "runtime/core/options.hpp"
#include "tools/cli/verb.hpp"

namespace sptile::tools::doctor {

struct Trial {
  runtime::Device device = runtime::Device::cpu;
  int products = 0;                   ///< number of correct products
  std::vector<std::string> failures;  ///< one line per kernel that failed or has a wrong result
};

/// Returns the matrix of the trial: odd sizes, an empty row, a full row.
formats::Csr trial_matrix();

/// Runs every operation with every format and kernel on the device, with f32 values and operands. Takes
/// milliseconds on a CPU.
Trial try_kernels(Session& session, runtime::Device device);

}  // namespace sptile::tools::doctor
