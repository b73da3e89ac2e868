// Table of properties.
#pragma once

#include <span>
#include <string_view>

#include "tests/property/session.hpp"

namespace sptile::test {

struct Property {
  std::string_view name, summary;
  void (*check)(Session& session);
  bool whole = true;  ///< skips further value types, see Instance::whole
};

std::span<const Property> properties();

/// A property that a kernel does not have, and the reason.
struct OptOut {
  std::string_view property;
  bool (*applies)(const runtime::Kernel& kernel);
  std::string_view reason;
};

std::span<const OptOut> opt_outs();

/// Returns null if the kernel must have the property.
const OptOut* find_opt_out(const runtime::Kernel& kernel, std::string_view property);

}  // namespace sptile::test
