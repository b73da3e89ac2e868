// Formats and kernels to choose from, as JSON.
#pragma once

#include <string>
#include <vector>

#include "runtime/choice/prediction.hpp"
#include "tools/cli/result.hpp"

namespace sptile::tools {

/// format, kernel, precision, predicted_us, measured_us, chosen and refused of each; null for what is not
/// known.
Json to_json(const std::vector<runtime::Candidate>& candidates);

/// Why the chosen one of several was chosen, and what to run where times are not predicted: "predicted to
/// take 12.3 us; csr with cpu.csr.avx512 15.0 us". Empty when there was nothing to choose from.
std::string why_chosen(const std::vector<runtime::Candidate>& candidates, runtime::Device device);

}  // namespace sptile::tools
