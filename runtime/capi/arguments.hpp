// Arguments of the C interface, checked and turned into ours: options, types, precisions.
#pragma once

#include <cstdint>

#include "formats/dtype.hpp"
#include "formats/error.hpp"
#include "runtime/options.hpp"
#include "runtime/sptile.h"

namespace sptile::runtime {

/// Finds the value type with this code; `what` names the argument in the message.
Result<DType> value_type(std::int64_t code, const char* what);

/// Finds the type of the values of a matrix in memory, none for SPTILE_NONE; verifies that values are given
/// where the type and nnz ask for them, and only there. `call` names the function in messages.
Result<DType> matrix_value_type(const char* call, const void* values, sptile_dtype code, std::int64_t nnz);

/// Both directions of the precisions of the C interface, which count from 1 in the order of ours.
constexpr Precision precision_of(int code) { return static_cast<Precision>(code - SPTILE_FP32); }
constexpr sptile_precision code_of(Precision precision) {
  return static_cast<sptile_precision>(static_cast<int>(precision) + SPTILE_FP32);
}
static_assert(precision_of(SPTILE_TF32) == Precision::tf32 && precision_of(SPTILE_FP16) == Precision::fp16);
static_assert(precision_of(SPTILE_PRECISION_BF16) == Precision::bf16 &&
              code_of(Precision::fp64) == SPTILE_FP64);

/// Checks options of any version and turns them into ours. Strings are borrowed.
Result<PlanOptions> convert_options(const sptile_spmm_options* from);

}  // namespace sptile::runtime
