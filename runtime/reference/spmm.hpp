// Serial reference of SpMM.
#pragma once

#include "formats/core/csr_view.hpp"
#include "runtime/core/operands.hpp"
#include "runtime/reference/number.hpp"

namespace sptile::runtime {

/// Passes each element of C = alpha * A * B + beta * `before` to the sink, in row-major order, with the scale
/// |alpha| (|A| |B|)_ij + |beta| |before|_ij. `before` has the leading dimension of C. O(nnz n).
void spmm_numbers(const formats::CsrView& a, std::int64_t n, const DenseTypes& dense,
                  const SpmmOperands& operands, const void* before, const ResultSink& sink);

/// Computes C = alpha * A * B + beta * C with products and sums in double, rounded once at the end. A's
/// values, B and C may have any of the types f16, bf16, f32, f64. Shapes as in SpmmOperands. Asserts its
/// preconditions. O(nnz n).
void reference_spmm(const formats::CsrView& a, std::int64_t n, const DenseTypes& dense,
                    const SpmmOperands& operands);

/// Returns the maximum over all elements of C of
///   |computed - reference| / (|alpha| (|A| |B|)_ij + |beta| |C before|_ij + smallest normal number of
///   the type of C).
/// Rounding errors are proportional to the denominator, so cancellation does not inflate the result, and an
/// element that should be 0 must be (almost) exactly 0. A correct kernel stays below tolerated_error. If the
/// reference, rounded to the type of C, is infinite or NaN, the result must be the same infinity or a NaN.
/// Otherwise, or if only the result is not finite, the error is infinite. `computed` contains the operands
/// after the run; `c_before` is C before the run, with the same leading dimension, and is read only if beta
/// is not 0. O(nnz n), serial, one row of scratch.
double relative_error(const formats::CsrView& a, std::int64_t n, const DenseTypes& dense,
                      const SpmmOperands& computed, const void* c_before = nullptr);

/// Bounds relative_error for correct kernels: (longest row + 3) roundings in the accumulator (f32, or f64 for
/// f64 operands), one to the type of C, and a factor of 2 for second-order terms.
double tolerated_error(const formats::CsrView& a, const DenseTypes& dense);

/// Returns the number of entries of the longest row. O(rows).
std::int64_t longest_row(const formats::CsrView& a);

}  // namespace sptile::runtime
