#include "tools/doctor/variables.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "runtime/choice/device_profile.hpp"
#include "runtime/threads/count.hpp"
#include "tools/pipeline/names.hpp"

namespace sptile::tools::doctor {
namespace {

struct Verdict {
  std::string says;
  bool good = true;
};

Verdict judge_threads(const std::string& value) {
  const Status s = runtime::check_threads_variable(value);
  if (!s) return {s.error().message, false};
  return {"number of threads without --threads; plans of the library use it as well"};
}

Verdict judge_profile(const std::string& value) {
  if (value.empty()) return {"empty, the same as unset"};
  const auto profile = runtime::read_profile(value);
  if (!profile) return {profile.error().text() + "; 'sptile calibrate' writes one", false};
  return {fmt::format("profile of {}", profile->device.name)};
}

Verdict judge_openmp(const std::string& value) {
  const bool list = !value.empty() && value.find_first_not_of("0123456789, ") == std::string::npos;
  if (!list) return {"not a number of threads; OpenMP ignores it", false};
  return {
      "maximum number of threads of multiplications without --threads and SPTILE_THREADS; conversions ignore "
      "it"};
}

Verdict judge_devices(const std::string& value) {
  if (value.empty() || value.starts_with("-")) return {"hides all CUDA devices", false};
  return {"visible CUDA devices and their order"};
}

Verdict judge_folder(const std::string& value) {
  if (!value.starts_with('/')) return {"not an absolute path; ~/.config is used", false};
  return {"parent of the directory sptile/profiles"};
}

Verdict judge_cache(const std::string& value) {
  if (value == "off") return {"measured choices are not kept"};
  if (value.empty()) return {"empty, the same as unset"};
  if (!value.starts_with('/'))
    return {"neither off nor an absolute path; measured choices are not kept", false};
  return {"directory of measured choices"};
}

Verdict judge_library(const std::string& value) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(value, error))
    return {"no such file; the Python package cannot load", false};
  return {"library that the Python package loads"};
}

struct Known {
  const char* name;
  Verdict (*judge)(const std::string& value);
};

constexpr Known kKnown[] = {
    {"SPTILE_THREADS", judge_threads},       {"SPTILE_PROFILE", judge_profile},
    {"SPTILE_CACHE", judge_cache},           {"SPTILE_LIBRARY", judge_library},
    {"SPTILE_TOOLS_LIBRARY", judge_library}, {"OMP_NUM_THREADS", judge_openmp},
    {"CUDA_VISIBLE_DEVICES", judge_devices}, {"XDG_CONFIG_HOME", judge_folder},
};

Verdict judge_unknown(const std::string& name) {
  const std::string nearest = nearest_name(name, names_of(kKnown));
  return {
      fmt::format("unknown variable{}", nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)),
      false};
}

}  // namespace

std::vector<Variable> judge_variables(const Lookup& value_of, const std::vector<std::string>& names) {
  std::vector<Variable> found;
  const auto add = [&](const std::string& name, const std::string& value, Verdict verdict) {
    found.push_back({name, value, std::move(verdict.says), verdict.good});
  };
  for (const Known& known : kKnown)
    if (const auto value = value_of(known.name)) add(known.name, *value, known.judge(*value));
  for (const std::string& name : names) {
    const auto value = value_of(name.c_str());
    const auto same = [&](const Known& known) { return known.name == name; };
    if (value && name.starts_with("SPTILE_") && std::ranges::none_of(kKnown, same))
      add(name, *value, judge_unknown(name));
  }
  return found;
}

std::vector<Variable> judge_environment() {
  std::vector<std::string> names;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string entry = *at;
    names.push_back(entry.substr(0, entry.find('=')));
  }
  std::ranges::sort(names);
  const Lookup value_of = [](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return value;
  };
  return judge_variables(value_of, names);
}

}  // namespace sptile::tools::doctor
