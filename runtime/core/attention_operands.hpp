// Operand indices of the softmax and attention operations, and the operands that belong to a row of the plan.
#pragma once

namespace sptile::runtime {

inline constexpr int kSoftmaxS = 0, kSoftmaxP = 1;
inline constexpr int kSoftmaxGradientP = 0, kSoftmaxGradientDP = 1, kSoftmaxGradientDS = 2;

/// Operand indices shared by all attention operations.
inline constexpr int kAttentionX = 0, kAttentionY = 1, kAttentionV = 2, kAttentionBias = 3,
                     kAttentionStatistics = 4;
inline constexpr int kAttentionOut = 5;

/// Statistics of a row: the maximum scaled score, and 1 / sum(exp(score - maximum)). Both are 0 in a row
/// without weights: exp(score - 0) * 0 is 0 for every masked entry.
inline constexpr int kMaximum = 0, kInverseSum = 1;

/// Factors log2(e) and 1 / log2(e): kernels use exp2, the cheapest exponential.
inline constexpr float kLog2E = 1.4426950408889634F, kLn2 = 0.6931471805599453F;

/// Operands of a gradient with respect to rows (plan of A) or columns (plan of A^T). The computation is the
/// same: a row of the plan has two dense rows (`own`, `own_values`), and each entry refers to two others. p
/// and dp = own_values . other_values follow from both, and so do the sums over the entries.
struct AttentionSide {
  int own, own_values, other, other_values;
  int delta;
  int own_gradient;  ///< result of the row, in the shape of `own`; the last operand
  int out = -1;      ///< operand from which delta is computed; -1: delta is an operand
  int dbias = -1;    ///< optional
  int values_gradient = -1;
  bool of_columns = false;  ///< statistics and delta belong to the other row (the column of A)
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
