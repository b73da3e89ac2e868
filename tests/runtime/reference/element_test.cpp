#include "runtime/reference/element.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace sptile;
using namespace sptile::runtime;

TEST_CASE("only types of values, and i32 of ids, are read, written and rounded") {
  double storage = 0;
  for (const DTypeInfo& type : kDTypes) {
    CAPTURE(type.name);
    if (type.is_value || type.dtype == DType::i32) {
      write_element(type.dtype, &storage, 0, -3);
      CHECK(read_element(type.dtype, &storage, 0) == -3);
      if (type.is_value) CHECK(element_error(type.dtype, 2, 1, 1) > 0.9);
      CHECK(tolerated_sum_error(1, type.dtype) > 0);
    } else {
      CHECK_THROWS_AS(write_element(type.dtype, &storage, 0, 1), std::logic_error);
      CHECK_THROWS_AS(read_element(type.dtype, &storage, 0), std::logic_error);
      CHECK_THROWS_AS(tolerated_sum_error(1, type.dtype), std::logic_error);
    }
  }
}
