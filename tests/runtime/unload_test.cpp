// A program may close the library while threads of it and of OpenMP exist.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sptile.h"

namespace {

constexpr std::int64_t kRows = 20000, kPerRow = 10, kN = 32;

template <class Function>
Function* function(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

/// Multiplies an upper band matrix of ones by ones, with two threads. Gives the first number of the result.
float multiply(void* library) {
  std::vector<std::int64_t> row_ptr{0};
  std::vector<std::int32_t> col_idx;
  for (std::int64_t row = 0; row < kRows; ++row) {
    for (std::int64_t column = row; column < std::min(row + kPerRow, kRows); ++column)
      col_idx.push_back(static_cast<std::int32_t>(column));
    row_ptr.push_back(std::ssize(col_idx));
  }
  std::vector<float> b(kRows * kN, 1), c(kRows * kN);
  sptile_arrays arrays = SPTILE_ARRAYS_INIT;
  arrays.rows = arrays.cols = kRows;
  arrays.nnz = std::ssize(col_idx);
  arrays.row = row_ptr.data();
  arrays.col = col_idx.data();
  sptile_matrix* matrix = nullptr;
  REQUIRE(function<decltype(sptile_matrix_create)>(library, "sptile_matrix_create")(
              &arrays, nullptr, nullptr, &matrix) == SPTILE_STATUS_OK);
  sptile_plan_options options = SPTILE_PLAN_OPTIONS_INIT;
  options.n = kN;
  options.threads = 2;
  sptile_plan* plan = nullptr;
  REQUIRE(function<decltype(sptile_plan_create)>(library, "sptile_plan_create")(matrix, "spmm", &options,
                                                                                &plan) == SPTILE_STATUS_OK);
  sptile_operands operands = SPTILE_OPERANDS_INIT;
  operands.dense[0].data = b.data();
  operands.dense[1].data = c.data();
  CHECK(function<decltype(sptile_run)>(library, "sptile_run")(plan, &operands, nullptr, nullptr) ==
        SPTILE_STATUS_OK);
  function<decltype(sptile_plan_destroy)>(library, "sptile_plan_destroy")(plan);
  function<decltype(sptile_matrix_destroy)>(library, "sptile_matrix_destroy")(matrix);
  return c[0];
}

}  // namespace

TEST_CASE("the library can be closed and opened again after runs with several threads") {
  for (int repeat = 0; repeat < 5; ++repeat) {
    void* const library = ::dlopen(SPTILE_LIBRARY_PATH, RTLD_NOW | RTLD_LOCAL);
    REQUIRE_MESSAGE(library != nullptr, ::dlerror());
    CHECK(multiply(library) == kPerRow);
    CHECK(::dlclose(library) == 0);
  }
}
