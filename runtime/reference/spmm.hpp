// The serial, obvious SpMM that every kernel is compared with.
#pragma once

#include "formats/csr_view.hpp"
#include "runtime/spmm.hpp"

namespace sptile::runtime {

/// C = alpha * A * B + beta * C with double products and sums, rounded once at the end. Types of A's values,
/// and of B and C (`dense`), may be any of f16, bf16, f32, f64. Shapes as in SpmmOperands; preconditions are
/// asserted.
void reference_spmm(const formats::CsrView& a, std::int64_t n, DType dense, const SpmmOperands& operands);

/// Largest |x - reference| over all elements, each divided by (|A| |B|)_ij-style scale: the sum of absolute
/// products of that element (1 where that sum is 0). This is the relative error that `sptile run` prints.
double relative_error(const formats::CsrView& a, std::int64_t n, DType dense, const SpmmOperands& computed);

}  // namespace sptile::runtime
