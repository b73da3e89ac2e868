// The environment variables that sptile heeds, and whether what they are set to makes sense.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sptile::tools::doctor {

struct Variable {
  std::string name, value;
  std::string says;  ///< what it does, or what is wrong with it
  bool good = true;  ///< false: it stops something, or does nothing
};

/// Gives the value of a variable, where it is set.
using Lookup = std::function<std::optional<std::string>(const char* name)>;

/// Judges those that are set: the known ones first, then every other name of `names` that starts with
/// SPTILE_.
std::vector<Variable> judge_variables(const Lookup& value_of, const std::vector<std::string>& names);

/// Those of this process.
std::vector<Variable> judge_environment();

}  // namespace sptile::tools::doctor
