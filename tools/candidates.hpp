// Formats and kernels to choose from, as JSON.
#pragma once

#include <vector>

#include "runtime/choice/prediction.hpp"
#include "tools/result.hpp"

namespace sptile::tools {

/// format, kernel, precision, predicted_us, measured_us, chosen and refused of each; null for what is not
/// known.
Json to_json(const std::vector<runtime::Candidate>& candidates);

}  // namespace sptile::tools
