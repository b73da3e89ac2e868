#include "tools/measure/operations.hpp"

#include <doctest/doctest.h>

#include "runtime/operation/sddmm.hpp"
#include "runtime/operation/spmm.hpp"

using namespace sptile;
using namespace sptile::tools;

TEST_CASE("what people are told of operations comes from their rows") {
  for (const std::string& name : operation_names()) CHECK(operation_named(name).name == name);
  CHECK(matrix_names(runtime::kSpmm) == "B and C");
  CHECK(matrix_names(runtime::kSddmm) == "X and Y");
  CHECK(operations_help().starts_with("`spmm`: C = A B"));
  CHECK(columns_help().starts_with("Number of columns of B, or of X and Y"));
  CHECK_FALSE(lists_entries(runtime::kSpmm));
  CHECK(lists_entries(runtime::kSddmm));
}
