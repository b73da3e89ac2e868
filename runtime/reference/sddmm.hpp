// The serial, obvious SDDMM that every kernel is compared with.
#pragma once

#include <span>

#include "formats/core/csr_view.hpp"
#include "runtime/core/operands.hpp"
#include "runtime/reference/number.hpp"

namespace sptile::runtime {

/// Hands each number of out = alpha * (X Y^T) at the entries of A, times their values where scaled, + beta *
/// `before` to the sink, with the scale that relative_error names. O(nnz n).
void sddmm_numbers(const formats::CsrView& a, std::span<const std::int64_t> packed, std::int64_t n,
                   const DenseTypes& dense, const SddmmOperands& operands, const void* before,
                   const ResultSink& sink);

/// out = alpha * (X Y^T) at the entries of A, times their values where scaled, + beta * out, with double
/// products and sums, rounded once at the end. `packed[k]` is where out holds the number of the k-th entry of
/// A (see formats::packed_positions); empty: at k, as for csr. Types of A's values, of X and Y, and
/// of out may be any of f16, bf16, f32, f64. Preconditions are asserted. O(nnz n).
void reference_sddmm(const formats::CsrView& a, std::span<const std::int64_t> packed, std::int64_t n,
                     const DenseTypes& dense, const SddmmOperands& operands);

/// Measures how wrong a result is: the largest element_error over all entries, with the scale
/// |alpha| (|X| |Y|^T)_ij |a_ij| + |beta out before|, a_ij being 1 unless scaled. A correct kernel stays
/// below tolerated_sum_error(n, dense). `computed` has the operands of the run, out holding its result;
/// `out_before` is out before the run and is needed only when beta is not 0. O(nnz n), serial.
double relative_error(const formats::CsrView& a, std::span<const std::int64_t> packed, std::int64_t n,
                      const DenseTypes& dense, const SddmmOperands& computed,
                      const void* out_before = nullptr);

}  // namespace sptile::runtime
