// The scores of attention, and their derivatives.
#pragma once

#include <cmath>

#include "runtime/core/operands.hpp"

namespace sptile::runtime {

/// What a score is made of: a row of its own, and another. Scores are symmetric.
struct ScoreSums {
  double both = 0;            ///< own . other; of Score::additive own + other
  double own = 0, other = 0;  ///< of Score::cosine own . own and other . other
  double slope = 0;
};

/// d score / d own = by_other * other + by_own * own; of Score::additive by_other alone.
struct ScoreParts {
  double score = 0, by_other = 0, by_own = 0;
};

/// Lengths below this count as this, so that rows of zeros have a cosine.
inline constexpr double kLeastLength = 1e-12;

inline ScoreParts dot_score(const ScoreSums& sums) { return {sums.both, 1, 0}; }

inline ScoreParts cosine_score(const ScoreSums& sums) {
  const auto length = [](double square) {
    const double root = std::sqrt(square);
    return root < kLeastLength ? kLeastLength : root;
  };
  const double own = length(sums.own), scale = 1 / (own * length(sums.other)), cosine = sums.both * scale;
  return {cosine, scale, own > kLeastLength ? -cosine / (own * own) : 0};
}

inline ScoreParts additive_score(const ScoreSums& sums) {
  const double slope = sums.both > 0 ? 1 : sums.slope;
  return {slope * sums.both, slope, 0};
}

using ScoreFunction = ScoreParts (*)(const ScoreSums&);
inline constexpr ScoreFunction kScores[] = {dot_score, cosine_score,
                                            additive_score};  ///< in the order of Score

}  // namespace sptile::runtime
