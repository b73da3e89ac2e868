// Attention scores and their derivatives.
#pragma once

#include <cmath>

#include "runtime/core/operands.hpp"

namespace sptile::runtime {

/// Sums over columns from which a score is computed. Scores are symmetric in both rows.
struct ScoreSums {
  double both = 0;            ///< own . other; for Score::additive own + other
  double own = 0, other = 0;  ///< own . own and other . other, for Score::cosine only
  double slope = 0;
};

/// Score and its derivative: d score / d own = by_other * other + by_own * own; for Score::additive by_other
/// alone.
struct ScoreParts {
  double score = 0, by_other = 0, by_own = 0;
};

/// Lower bound of row lengths, so that the cosine of a zero row is defined.
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
