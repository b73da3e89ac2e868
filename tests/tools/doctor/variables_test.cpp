#include "tools/doctor/variables.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace sptile;
using tools::doctor::Variable;

namespace {

std::vector<Variable> judge(const std::map<std::string, std::string>& set) {
  std::vector<std::string> names;
  for (const auto& [name, value] : set) names.push_back(name);
  return tools::doctor::judge_variables(
      [&](const char* name) -> std::optional<std::string> {
        const auto found = set.find(name);
        if (found == set.end()) return std::nullopt;
        return found->second;
      },
      names);
}

}  // namespace

TEST_CASE("what is not set, and not sptile's, is not mentioned") {
  CHECK(judge({}).empty());
  CHECK(judge({{"PATH", "/bin"}, {"TERM", "dumb"}}).empty());
}

TEST_CASE("good values are good, and say what they do") {
  for (const auto& variable : std::map<std::string, std::string>{{"SPTILE_THREADS", "4"},
                                                                 {"OMP_NUM_THREADS", "4,2"},
                                                                 {"CUDA_VISIBLE_DEVICES", "1"},
                                                                 {"XDG_CONFIG_HOME", "/etc"},
                                                                 {"SPTILE_PROFILE", ""},
                                                                 {"SPTILE_CACHE", "off"},
                                                                 {"SPTILE_LIBRARY", "/proc/self/exe"}}) {
    const std::string& name = variable.first;
    CAPTURE(name);
    const auto found = judge({variable});
    REQUIRE(found.size() == 1);
    CHECK(found[0].name == name);
    CHECK(found[0].value == variable.second);
    CHECK(found[0].good);
    CHECK_FALSE(found[0].says.empty());
  }
}

TEST_CASE("values that do nothing, or harm, are told") {
  for (const auto& variable : std::map<std::string, std::string>{{"OMP_NUM_THREADS", "many"},
                                                                 {"SPTILE_THREADS", "many"},
                                                                 {"CUDA_VISIBLE_DEVICES", ""},
                                                                 {"XDG_CONFIG_HOME", "config"},
                                                                 {"SPTILE_PROFILE", "/no/such.tsv"},
                                                                 {"SPTILE_CACHE", "cache"},
                                                                 {"SPTILE_LIBRARY", "/no/such.so"}}) {
    const std::string& name = variable.first;
    CAPTURE(name);
    const auto found = judge({variable});
    REQUIRE(found.size() == 1);
    CHECK_FALSE(found[0].good);
  }
}

TEST_CASE("a variable that nobody reads is named, with the one that was perhaps meant") {
  const auto found = judge({{"SPTILE_PROFILES", "a.tsv"}, {"SPTILE_THREADS", "1"}});
  REQUIRE(found.size() == 2);
  CHECK(found[0].name == "SPTILE_THREADS");
  CHECK(found[1].name == "SPTILE_PROFILES");
  CHECK_FALSE(found[1].good);
  CHECK(found[1].says.find("did you mean SPTILE_PROFILE?") != std::string::npos);
}
