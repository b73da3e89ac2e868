#include "tests/property/report.hpp"

#include <cstdio>

namespace sptile::test {
namespace {

constexpr std::int64_t kShown = 2;  ///< failures of a kernel and a property

}  // namespace

void Report::passed(std::string_view kernel, std::string_view property) {
  ++counts_[{std::string(kernel), std::string(property)}].passed;
  ++passed_;
}

void Report::failed(std::string_view kernel, std::string_view property, const std::string& place,
                    const std::string& what) {
  Counts& counts = counts_[{std::string(kernel), std::string(property)}];
  ++failed_;
  if (++counts.failed > kShown) return;
  const std::string name(kernel), of(property);
  std::printf(
      "FAILED %s %s, %s\n  %s\n  again: sptile_property%s test --backend %s --kernel %s --property %s --case "
      "'%s'\n",
      name.c_str(), of.c_str(), place.c_str(), what.c_str(), backend_ == "emulated" ? "_emulated" : "",
      backend_.c_str(), name.c_str(), of.c_str(), place.c_str());
}

void Report::wrong(const std::string& what) {
  std::printf("WRONG %s\n", what.c_str());
  ++wrong_;
}

std::int64_t Report::cases(std::string_view kernel, std::string_view property) const {
  const auto found = counts_.find(std::pair(std::string(kernel), std::string(property)));
  return found == counts_.end() ? 0 : found->second.passed + found->second.failed;
}

}  // namespace sptile::test
