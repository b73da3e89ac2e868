// JSON and text for candidate formats and kernels.
#pragma once

#include <string>
#include <vector>

#include "runtime/choice/prediction.hpp"
#include "tools/cli/result.hpp"

namespace sptile::tools {

/// Returns format, kernel, precision, predicted_us, measured_us, chosen and refused of each candidate; null
/// if unknown.
Json to_json(const std::vector<runtime::Candidate>& candidates);

/// Returns the reason for the choice, and the command to run if times are not predicted: "predicted to take
/// 12.3 us; csr with cpu.csr.avx512 15.0 us". Empty for a single candidate.
std::string why_chosen(const std::vector<runtime::Candidate>& candidates, runtime::Device device);

}  // namespace sptile::tools
