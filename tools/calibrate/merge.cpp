#include "tools/calibrate/merge.hpp"

#include <algorithm>

namespace sptile::tools {
namespace {

/// True when the new number takes the place of the known one.
bool replaces(const runtime::ProfileNumber& fresh, const runtime::ProfileNumber& known) {
  if (fresh.kernel != known.kernel) return false;
  if (runtime::is_feature(known.name))
    return runtime::is_feature(fresh.name) &&
           (fresh.precision == known.precision || known.precision == "any");
  return fresh.precision == known.precision && fresh.name == known.name;
}

}  // namespace

std::vector<runtime::ProfileNumber> merge_numbers(std::span<const runtime::ProfileNumber> known,
                                                  std::span<const runtime::ProfileNumber> measured,
                                                  bool renews_all) {
  std::vector<runtime::ProfileNumber> numbers;
  for (const runtime::ProfileNumber& number : known) {
    if (renews_all && runtime::is_feature(number.name)) continue;
    if (std::none_of(measured.begin(), measured.end(),
                     [&](const runtime::ProfileNumber& fresh) { return replaces(fresh, number); }))
      numbers.push_back(number);
  }
  numbers.insert(numbers.end(), measured.begin(), measured.end());
  return numbers;
}

}  // namespace sptile::tools
