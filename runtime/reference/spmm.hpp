// The serial, obvious SpMM that every kernel is compared with.
#pragma once

#include "formats/core/csr_view.hpp"
#include "runtime/core/operands.hpp"
#include "runtime/reference/number.hpp"

namespace sptile::runtime {

/// Hands each element of C = alpha * A * B + beta * `before` to the sink, row after row, with the scale
/// |alpha| (|A| |B|)_ij + |beta| |before|_ij. `before` has the leading dimension of C. O(nnz n).
void spmm_numbers(const formats::CsrView& a, std::int64_t n, const DenseTypes& dense,
                  const SpmmOperands& operands, const void* before, const ResultSink& sink);

/// C = alpha * A * B + beta * C with double products and sums, rounded once at the end. Types of A's values,
/// of B and of C may be any of f16, bf16, f32, f64. Shapes as in SpmmOperands; preconditions are
/// asserted. O(nnz n).
void reference_spmm(const formats::CsrView& a, std::int64_t n, const DenseTypes& dense,
                    const SpmmOperands& operands);

/// Measures how wrong a result is: the largest, over all elements of C, of
///   |computed - reference| / (|alpha| (|A| |B|)_ij + |beta| |C before|_ij + smallest normal number of
///   the type of C).
/// The denominator is what rounding errors are proportional to, so cancellation does not inflate the figure
/// and an element that should be 0 is held to (almost) exactly 0. A correct kernel stays below
/// tolerated_error. Where the reference, rounded to the type of C, is infinite or NaN the result must be the
/// same infinity or a NaN; if not, or if the result alone is not finite, the error is infinite. `computed`
/// has the operands of the run, C holding its result; `c_before` is C before the run, with the same leading
/// dimension, and is needed only when beta is not 0. O(nnz n), serial, one row of scratch.
double relative_error(const formats::CsrView& a, std::int64_t n, const DenseTypes& dense,
                      const SpmmOperands& computed, const void* c_before = nullptr);

/// Bounds relative_error for correct kernels: (longest row + 3) roundings in the accumulator (f32, or f64 for
/// f64 operands) and one to the type of C, with a factor 2 for second-order terms.
double tolerated_error(const formats::CsrView& a, const DenseTypes& dense);

/// Entries of the longest row. O(rows).
std::int64_t longest_row(const formats::CsrView& a);

}  // namespace sptile::runtime
