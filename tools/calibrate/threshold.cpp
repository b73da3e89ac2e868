#include "tools/calibrate/threshold.hpp"

#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "runtime/choice/fitted_parameter.hpp"

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

using runtime::cuda::LibraOccupancy;

// Returns thresholds between the ratios, below all of them and above.
std::vector<double> divisions(std::span<const OccupancySample> samples, double OccupancySample::*ratio) {
  std::set<double> ratios;
  for (const OccupancySample& sample : samples) ratios.insert(sample.*ratio);
  std::vector<double> values = {*ratios.begin() / 2};
  for (auto next = std::next(ratios.begin()); next != ratios.end(); ++next)
    values.push_back(std::sqrt(*std::prev(next) * *next));
  values.push_back(2 * *ratios.rbegin());
  return values;
}

double log_time(std::span<const OccupancySample> samples, const LibraOccupancy& thresholds) {
  double sum = 0;
  for (const OccupancySample& s : samples) {
    const auto mode = runtime::cuda::choose_mode({s.tiles_ratio, s.rows_ratio}, thresholds);
    sum += std::log(mode == runtime::cuda::LibraMode::sequential ? s.sequential_us : s.concurrent_us);
  }
  return sum;
}

}  // namespace

std::vector<runtime::ProfileNumber> fit_occupancy(std::span<const OccupancySample> samples,
                                                  const LibraOccupancy& known) {
  constexpr double kEqual = 1e-9;
  if (samples.empty()) return {};
  LibraOccupancy best = known;
  double min = log_time(samples, best);
  for (const double tiles : divisions(samples, &OccupancySample::tiles_ratio))
    for (const double rows : divisions(samples, &OccupancySample::rows_ratio)) {
      const double sum = log_time(samples, {tiles, rows});
      if (sum >= min - kEqual) continue;
      min = sum;
      best = {tiles, rows};
    }
  constexpr const char* kKernel = "cuda.libra_spmm.streams_fitted";
  return {{kKernel, "any", "occupancy_tiles", best.tiles}, {kKernel, "any", "occupancy_rows", best.rows}};
}

std::vector<runtime::ProfileNumber> fit_thresholds(std::span<const ThresholdSample> samples) {
  std::map<Case, std::map<std::string, Times>> cases;
  for (const ThresholdSample& s : samples) cases[{s.kernel, s.precision, s.n}][s.matrix][s.threshold] = s.us;
  std::vector<runtime::ProfileNumber> numbers;
  for (const auto& [key, matrices] : cases) {
    const auto& [kernel, precision, n] = key;
    numbers.push_back({kernel, precision, runtime::fitted_name("threshold", n),
                       static_cast<double>(best_threshold(matrices))});
  }
  return numbers;
}

}  // namespace sptile::tools
