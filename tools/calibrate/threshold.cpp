#include "tools/calibrate/threshold.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "runtime/choice/fitted_threshold.hpp"

namespace sptile::tools {
namespace {

using Case = std::tuple<std::string, std::string, std::int64_t>;  // kernel, precision, N
using Times = std::map<int, double>;                              // microseconds by threshold

int best_threshold(const std::map<std::string, Times>& matrices) {
  std::set<int> thresholds;
  for (const auto& [matrix, times] : matrices)
    for (const auto& [threshold, us] : times) thresholds.insert(threshold);
  std::map<int, double> sums;
  for (const int threshold : thresholds) sums[threshold] = 0;
  for (const auto& [matrix, times] : matrices)
    if (times.size() == thresholds.size())
      for (const auto& [threshold, us] : times) sums[threshold] += std::log(us);
  int best = *thresholds.begin();
  for (const auto& [threshold, sum] : sums)
    if (sum < sums[best]) best = threshold;
  return best;
}

}  // namespace

std::vector<runtime::ProfileNumber> fit_thresholds(std::span<const ThresholdSample> samples) {
  std::map<Case, std::map<std::string, Times>> cases;
  for (const ThresholdSample& s : samples) cases[{s.kernel, s.precision, s.n}][s.matrix][s.threshold] = s.us;
  std::vector<runtime::ProfileNumber> numbers;
  for (const auto& [key, matrices] : cases) {
    const auto& [kernel, precision, n] = key;
    numbers.push_back({kernel, precision, fmt::format("{}{}", runtime::kThresholdPrefix, n),
                       static_cast<double>(best_threshold(matrices))});
  }
  return numbers;
}

}  // namespace sptile::tools
