#include "tools/measure/time_summary.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace sptile::tools {

TimeSummary summarise(std::vector<double> times) {
  assert(!times.empty());
  std::sort(times.begin(), times.end());
  const std::size_t last = times.size() - 1;
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(last);
    const auto low = static_cast<std::size_t>(place);
    // Monotone, unlike a weighted sum: a spread of equal times must not be negative by a rounding.
    return std::lerp(times[low], times[std::min(low + 1, last)], place - static_cast<double>(low));
  };
  return {at(0.5), times.front(), (at(0.9) - at(0.1)) / at(0.5), static_cast<int>(times.size())};
}

}  // namespace sptile::tools
