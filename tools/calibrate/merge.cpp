#include "tools/calibrate/merge.hpp"

#include <algorithm>

namespace sptile::tools {
namespace {

using runtime::ProfileNumber;

// Returns whether a known number is kept.
bool stays(const ProfileNumber& known, std::span<const ProfileNumber> measured, bool renews_all) {
  const bool is_cost = runtime::is_feature(known.name);
  if (is_cost && renews_all) return false;
  return std::none_of(measured.begin(), measured.end(), [&](const ProfileNumber& fresh) {
    if (fresh.kernel != known.kernel) return false;
    const bool same_precision = fresh.precision == known.precision;
    return is_cost ? runtime::is_feature(fresh.name) &&
                         (same_precision || known.precision == runtime::kAnyPrecision)
                   : same_precision && fresh.name == known.name;
  });
}

}  // namespace

std::vector<ProfileNumber> merge_numbers(std::span<const ProfileNumber> known,
                                         std::span<const ProfileNumber> measured, bool renews_all) {
  std::vector<ProfileNumber> numbers;
  std::copy_if(known.begin(), known.end(), std::back_inserter(numbers),
               [&](const ProfileNumber& number) { return stays(number, measured, renews_all); });
  numbers.insert(numbers.end(), measured.begin(), measured.end());
  return numbers;
}

}  // namespace sptile::tools
