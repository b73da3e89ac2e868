#include "reorder/core/options.hpp"

#include <algorithm>
#include <cassert>

namespace sptile::reorder {

double setting(const ReorderOptions& options, std::span<const Parameter> parameters, std::string_view name) {
  const auto parameter =
      std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == name; });
  assert(parameter != parameters.end());
  double value = parameter->standard;
  for (const Setting& given : options.settings)
    if (given.name == name) value = given.value;
  return value;
}

}  // namespace sptile::reorder
