// Named facts about how something was made: window rows, thresholds, seeds. They go to JSON and to bundle
// attributes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sptile {

using ParameterValue = std::variant<std::int64_t, double, std::string>;
/// In the order in which they should be shown.
using Parameters = std::vector<std::pair<std::string, ParameterValue>>;

}  // namespace sptile
