// Places of the operands of softmax and attention, and which of them belong to the row of a plan.
#pragma once

namespace sptile::runtime {

inline constexpr int kSoftmaxS = 0, kSoftmaxP = 1;
inline constexpr int kSoftmaxGradientP = 0, kSoftmaxGradientDP = 1, kSoftmaxGradientDS = 2;

/// Of all operations of attention.
inline constexpr int kAttentionX = 0, kAttentionY = 1, kAttentionV = 2, kAttentionBias = 3,
                     kAttentionStatistics = 4;
inline constexpr int kAttentionOut = 5;

/// Statistics of a row: the largest weighed score, and 1 / (sum of exp(score - that)). Both are 0 where
/// nothing weighs: then exp(score - 0) * 0 is 0 for every masked entry.
inline constexpr int kMaximum = 0, kInverseSum = 1;

/// Exponentials of powers of two are the cheapest: log2(e) and its inverse.
inline constexpr float kLog2E = 1.4426950408889634F, kLn2 = 0.6931471805599453F;

/// The gradient with respect to rows (of a plan of A) or to columns (of a plan of its transpose) is made in
/// the same way: a row of the plan has two dense rows of its own, each entry brings two others. p and
/// dp = own_values . other_values follow from both, and so do sums over the entries.
struct AttentionSide {
  int own, own_values, other, other_values;
  int delta;
  int own_gradient;  ///< of `own`: the last operand
  int out = -1;      ///< delta is made from it; -1: delta is there
  int dbias = -1;    ///< optional
  int values_gradient = -1;
  bool of_columns = false;  ///< statistics and delta are those of the other row
};
inline constexpr AttentionSide kRowsSide = {.own = kAttentionX,
                                            .own_values = 6,
                                            .other = kAttentionY,
                                            .other_values = kAttentionV,
                                            .delta = 7,
                                            .own_gradient = 9,
                                            .out = 5,
                                            .dbias = 8};
inline constexpr AttentionSide kColumnsSide = {.own = kAttentionY,
                                               .own_values = kAttentionV,
                                               .other = kAttentionX,
                                               .other_values = 5,
                                               .delta = 6,
                                               .own_gradient = 8,
                                               .values_gradient = 7,
                                               .of_columns = true};

}  // namespace sptile::runtime
