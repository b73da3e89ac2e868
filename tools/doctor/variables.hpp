// Environment variables of sptile, and the validity of their values.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sptile::tools::doctor {

struct Variable {
  std::string name, value;
  std::string says;  ///< its effect, or the error in its value
  bool good = true;  ///< false: it causes an error or has no effect
};

/// Returns the value of a variable; nullopt if unset.
using Lookup = std::function<std::optional<std::string>(const char* name)>;

/// Checks the variables that are set: first the known ones, then all others in `names` that start with
/// SPTILE_.
std::vector<Variable> judge_variables(const Lookup& value_of, const std::vector<std::string>& names);

/// Checks the variables of this process.
std::vector<Variable> judge_environment();

}  // namespace sptile::tools::doctor
