// Maxima and minima over the entries of a row, and their gradients:
//   spmm_max             C[i, f] = alpha * max over the entries (i, j) of A_ij B[j, f], 0 for an empty row
//   spmm_min             the same with min
//   spmm_max_gradient    dvalues at (i, j) = alpha * sum over f with arg[i, f] = j of G[i, f] B[j, f]
//   spmm_max_gradient_t  dB[j, f] = alpha * sum over i with arg[i, f] = j of A_ij G[i, f], planned with A^T
// `arg` has the column of the entry that gave the result: the first one of equal ones, -1 for an empty row. A
// row has at most one entry in a column, so the column identifies the entry in A and in A^T. The first NaN
// is larger and smaller than all numbers. Both gradients are those of spmm_max and of spmm_min.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kSpmmMax, kSpmmMin, kSpmmMaxGradient, kSpmmMaxGradientT;

/// Operand indices of spmm_max and spmm_min.
inline constexpr int kReduceB = 0, kReduceArg = 1, kReduceC = 2;
/// Operand indices of spmm_max_gradient.
inline constexpr int kReduceGradientG = 0, kReduceGradientArg = 1, kReduceGradientB = 2,
                     kReduceGradientValues = 3;
/// Operand indices of spmm_max_gradient_t.
inline constexpr int kReduceTransposedG = 0, kReduceTransposedArg = 1, kReduceTransposedB = 2;

}  // namespace sptile::runtime
