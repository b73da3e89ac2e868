// Error bounds of correct kernels relative to the references, including the rounding of factors.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

/// Returns the length of the chain of products: factors of a later product are results of an earlier one.
int products_of(const Operation& op);

/// Bounds the part of element_error that comes from rounding the factors of products:
/// - f32 operands in tf32, fp16 or bf16: both factors of each product are rounded.
/// - f32 operands in fp32: splitting a factor x into two tf32 numbers, hi + lo, loses 2^-23 |x|, and the
///   product of both lo parts, at most 2^-22 of the result, is omitted.
/// - 16-bit operands are exact. Results passed from one product to the next may be rounded to their type.
/// - Tensor cores truncate sums: 8 truncations of 2^-23 in addition to tolerated_sum_error. They are not
///   visible in 16-bit results.
double factor_error(const Operation& op, Precision precision, const DenseTypes& types);

/// Bounds element_error for a correct kernel on a CUDA device. On the CPU, tolerated_sum_error suffices.
double tolerated_error(const Operation& op, const ReferenceProduct& product, Precision precision);

}  // namespace sptile::runtime
