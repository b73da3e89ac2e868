// Softmax weights of the entries of a row, for references.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

namespace sptile::runtime {

struct WeighedScore {
  double score = 0;
  double magnitude = 0;  ///< value to which rounding errors of the score are proportional
  double weight = 0;
  double amplified = 0;  ///< value to which relative errors of the weight are proportional
};

/// Properties of a row of scores.
struct RowWeights {
  double maximum = 0, inverse = 0;  ///< both 0: no entry has a weight
  /// magnitude of scores: weighted mean, and maximum over entries with a weight
  double magnitude = 0, largest = 0;
};

/// Sets the weights to exp(score - maximum) / sum. A NaN, or an infinity other than -inf, makes all of them
/// NaN.
inline RowWeights weigh(std::vector<WeighedScore>& row) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  double maximum = kNone, sum = 0;
  for (const WeighedScore& entry : row)
    if (entry.score > maximum) maximum = entry.score;
  if (maximum == kNone) maximum = 0;
  for (const WeighedScore& entry : row) sum += std::exp(entry.score - maximum);
  RowWeights all{maximum, sum == 0 ? 0 : 1 / sum};
  for (WeighedScore& entry : row) {
    entry.weight = std::exp(entry.score - maximum) * all.inverse;
    if (entry.weight == 0) entry.magnitude = 0;  // masked entries have an infinite magnitude
    all.magnitude += entry.weight * entry.magnitude;
    all.largest = std::fmax(all.largest, entry.magnitude);
  }
  for (WeighedScore& entry : row) entry.amplified = 1 + entry.magnitude + all.magnitude;
  return all;
}

}  // namespace sptile::runtime
