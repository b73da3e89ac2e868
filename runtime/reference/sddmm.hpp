// Serial reference of SDDMM.
#pragma once

#include <span>

#include "formats/core/csr_view.hpp"
#include "runtime/core/operands.hpp"
#include "runtime/reference/number.hpp"

namespace sptile::runtime {

/// Passes each number of out = alpha * (X Y^T) at the entries of A (times their values if scaled) + beta *
/// `before` to the sink, with the scale of relative_error. O(nnz n).
void sddmm_numbers(const formats::CsrView& a, std::span<const std::int64_t> packed, std::int64_t n,
                   const DenseTypes& dense, const SddmmOperands& operands, const void* before,
                   const ResultSink& sink);

/// Computes out = alpha * (X Y^T) at the entries of A (times their values if scaled) + beta * out, with
/// products and sums in double, rounded once at the end. `packed[k]` is the position in `out` of the k-th
/// entry of A (see formats::packed_positions); empty: k, as for csr. A's values, X and Y, and out may have
/// any of the types f16, bf16, f32, f64. Asserts its preconditions. O(nnz n).
void reference_sddmm(const formats::CsrView& a, std::span<const std::int64_t> packed, std::int64_t n,
                     const DenseTypes& dense, const SddmmOperands& operands);

/// Returns the maximum element_error over all entries, with the scale |alpha| (|X| |Y|^T)_ij |a_ij| + |beta
/// out before|, where a_ij is 1 unless scaled. A correct kernel stays below tolerated_sum_error(n, dense).
/// `computed` contains the operands after the run; `out_before` is out before the run and is read only if
/// beta is not 0. O(nnz n), serial.
double relative_error(const formats::CsrView& a, std::span<const std::int64_t> packed, std::int64_t n,
                      const DenseTypes& dense, const SddmmOperands& computed,
                      const void* out_before = nullptr);

}  // namespace sptile::runtime
