// A small matrix for tests of the C interface.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sptile.h"

namespace sptile::test {

/// Returns whether the last error message contains `part`, the name of the function or field.
inline bool says(const char* part) {
  return std::string(sptile_last_error()).find(part) != std::string::npos;
}

// [ 1 . 2 ]
// [ . . . ]
// [ . 3 . ]
struct Small {
  std::vector<std::int64_t> row_ptr = {0, 2, 2, 3};
  std::vector<std::int32_t> col_idx = {0, 2, 1};
  std::vector<float> values = {1, 2, 3};

  [[nodiscard]] sptile_arrays arrays() const {
    sptile_arrays a = SPTILE_ARRAYS_INIT;
    a.rows = a.cols = a.nnz = 3;
    a.row = row_ptr.data();
    a.col = col_idx.data();
    a.values = values.data();
    a.value_dtype = SPTILE_DTYPE_F32;
    return a;
  }

  [[nodiscard]] sptile_matrix* matrix(bool refreshable = false) const {
    const sptile_arrays a = arrays();
    sptile_matrix_options options = SPTILE_MATRIX_OPTIONS_INIT;
    options.refreshable = refreshable ? 1 : 0;
    sptile_matrix* matrix = nullptr;
    REQUIRE(sptile_matrix_create(&a, &options, nullptr, &matrix) == SPTILE_STATUS_OK);
    return matrix;
  }
};

inline sptile_plan_options options_for(std::int64_t n, const char* format = nullptr) {
  sptile_plan_options options = SPTILE_PLAN_OPTIONS_INIT;
  options.n = n;
  options.format = format;
  return options;
}

inline sptile_plan_info describe(const sptile_plan* plan) {
  sptile_plan_info info = {};
  info.size = sizeof info;
  REQUIRE(sptile_plan_describe(plan, &info) == SPTILE_STATUS_OK);
  return info;
}

inline sptile_status spmm(const sptile_plan* plan, const void* b, void* c, double alpha = 1,
                          double beta = 0) {
  sptile_operands operands = SPTILE_OPERANDS_INIT;
  operands.alpha = alpha;
  operands.beta = beta;
  operands.dense[0].data = const_cast<void*>(b);
  operands.dense[1].data = c;
  return sptile_run(plan, &operands, nullptr, nullptr);
}

inline sptile_status sddmm(const sptile_plan* plan, const void* x, const void* y, void* out, double alpha = 1,
                           double beta = 0, bool scaled = false) {
  sptile_operands operands = SPTILE_OPERANDS_INIT;
  operands.alpha = alpha;
  operands.beta = beta;
  const sptile_attribute attribute = {"scaled", scaled ? 1.0 : 0.0};
  operands.attributes = &attribute;
  operands.attribute_count = 1;
  operands.dense[0].data = const_cast<void*>(x);
  operands.dense[1].data = const_cast<void*>(y);
  operands.dense[2].data = out;
  return sptile_run(plan, &operands, nullptr, nullptr);
}

inline sptile_status refresh(sptile_matrix* matrix, const void* data, std::int64_t count,
                             const sptile_plan* order = nullptr, sptile_dtype type = SPTILE_DTYPE_F32,
                             void* stream = nullptr) {
  const sptile_values values = {sizeof(sptile_values), data, count, order, type, 0};
  return sptile_matrix_refresh(matrix, &values, stream);
}

}  // namespace sptile::test
