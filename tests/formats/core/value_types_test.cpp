#include "formats/core/value_types.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "formats/core/dtype_names.hpp"

using namespace sptile;
using namespace sptile::formats;

TEST_CASE("a dispatch over types of values takes no other type for one of them") {
  const auto width = [](auto type) { return sizeof(typename decltype(type)::type); };
  for (const DTypeInfo& type : kDTypes) {
    CAPTURE(type.name);
    if (type.is_value)
      CHECK(visit_value_type(type.dtype, width) == type.bytes);
    else
      CHECK_THROWS_AS(visit_value_type(type.dtype, width), std::logic_error);
  }
}

TEST_CASE("values and positions move as words of their size; a pattern has none") {
  const auto width = [](auto word) { return sizeof word; };
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i64})
    CHECK(visit_word(dtype, width) == size_of(dtype));
  CHECK(visit_word(DType::none, width) == 8);
  CHECK_THROWS_AS(visit_word(DType::u8, width), std::logic_error);
}

TEST_CASE("each value type has a short name and that of NumPy") {
  for (const DTypeInfo& type : kDTypes) CHECK(parse_value_dtype(type.name).has_value() == type.is_value);
  CHECK(parse_value_dtype("float32") == DType::f32);
  CHECK(parse_value_dtype("float64") == DType::f64);
  CHECK(parse_value_dtype("float16") == DType::f16);
  CHECK(parse_value_dtype("bfloat16") == DType::bf16);
  for (const char* name : {"int32", "float", "F32", ""}) CHECK_FALSE(parse_value_dtype(name).has_value());
}
