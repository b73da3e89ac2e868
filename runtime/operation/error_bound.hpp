// How far results of correct kernels may be from those of the references, beside the rounding of sums.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

/// Products in a chain: factors of the second are results of the first.
int products_of(const Operation& op);

/// Bounds the part of element_error that comes from rounding the factors of products:
///
/// - f32 operands in tf32, fp16 or bf16: both factors of each product are rounded.
/// - f32 operands in fp32: a factor x that is split into two numbers of tf32, hi + lo, loses 2^-23 |x|, and
///   the product of both lo, at most 2^-22 of the whole, is left out.
/// - Operands of 16 bits are exact. What one product hands to the next may be rounded to their type.
/// - Tensor cores cut off what they add: 8 cuts of 2^-23 more than tolerated_sum_error allows. Results of
///   16 bits do not show it.
double factor_error(const Operation& op, Precision precision, const DenseTypes& types);

/// Bounds element_error for a correct kernel on a CUDA device; on the CPU the first part is enough.
double tolerated_error(const Operation& op, const ReferenceProduct& product, Precision precision);

}  // namespace sptile::runtime
