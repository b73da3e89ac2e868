// The table of properties.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tests/property/session.hpp"

namespace sptile::test {

struct Property {
  std::string_view name, summary;
  void (*check)(Session& session);
  bool whole = true;  ///< not for further types of values, see Instance::whole
};

std::span<const Property> properties();

/// Plans and runs a case; empty, or the first element that differs from the reference.
std::string agrees(Session& session, const Setting& setting);
/// Runs the cases of a kernel's schedules: windows and rows in pieces, teams, slices.
void check_divisions(Session& session);

/// A kernel that does not have a property, and why.
struct OptOut {
  std::string_view property;
  bool (*applies)(const runtime::Kernel& kernel);
  std::string_view reason;
};

std::span<const OptOut> opt_outs();

/// Null when the kernel is to have the property.
const OptOut* find_opt_out(const runtime::Kernel& kernel, std::string_view property);

}  // namespace sptile::test
