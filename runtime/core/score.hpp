// Scores of attention and their derivatives, for host and device.
#pragma once

#include <cmath>

#include "runtime/core/operands.hpp"

#ifdef __CUDACC__
#define SPTILE_SCORE_FUNCTION __host__ __device__ __forceinline__
#else
#define SPTILE_SCORE_FUNCTION inline
#endif

namespace sptile::runtime {

/// Lower bound of the lengths of rows, so that rows of zeros have a cosine.
inline constexpr double kMinLength = 1e-12;

/// d score / d own = by_other * other + by_own * own; of Score::additive by_other alone.
template <class T>
struct ScoreParts {
  T score, by_other, by_own;
};

/// Returns the score of a row `own` and a row `other`, and its derivative. `both` is own . other, or own +
/// other for Score::additive. `own` and `other` are the squares of their lengths, used by Score::cosine only.
/// Scores are symmetric.
template <class T>
SPTILE_SCORE_FUNCTION ScoreParts<T> score_of(Score kind, T both, T own, T other, T slope) {
  if (kind == Score::dot) return {both, T{1}, T{0}};
  if (kind == Score::additive) {
    const T by = both > T{0} ? T{1} : slope;
    return {by * both, by, T{0}};
  }
  constexpr T kMin = static_cast<T>(kMinLength);
  const auto length = [](T square) {
    const T root = static_cast<T>(std::sqrt(square));
    return root < kMin ? kMin : root;
  };
  const T mine = length(own), scale = T{1} / (mine * length(other)), cosine = both * scale;
  return {cosine, scale, mine > kMin ? -cosine / (mine * mine) : T{0}};
}

#undef SPTILE_SCORE_FUNCTION

}  // namespace sptile::runtime
