#include "tools/pipeline/precision_choice.hpp"

#include <doctest/doctest.h>

using namespace sptile;
using sptile::tools::parse_precisions;

TEST_CASE("a precision brings the types of its operands") {
  const auto list = parse_precisions("tf32,fp16,fp64", "", "");
  REQUIRE(list.has_value());
  REQUIRE(list->size() == 3);
  CHECK((*list)[0].values == DType::f32);
  CHECK((*list)[0].dense.empty());
  CHECK((*list)[1].values == DType::f16);
  CHECK((*list)[1].dense == "f16");
  CHECK((*list)[2].values == DType::f64);
  CHECK((*list)[2].dense == "f64");
}

TEST_CASE("types that are given win") {
  const auto values = parse_precisions("fp16", "bf16", "");
  REQUIRE(values.has_value());
  CHECK(values->front().values == DType::bf16);
  CHECK(values->front().dense.empty());
  const auto dense = parse_precisions("fp16", "", "f32");
  REQUIRE(dense.has_value());
  CHECK(dense->front().values == DType::f16);
  CHECK(dense->front().dense == "f32");
}

TEST_CASE("without a list there is one choice, the kernel's own") {
  const auto list = parse_precisions("", "f64", "");
  REQUIRE(list.has_value());
  REQUIRE(list->size() == 1);
  CHECK(list->front().name.empty());
  CHECK(list->front().values == DType::f64);
}

TEST_CASE("unknown names are refused with those that are known") {
  const auto list = parse_precisions("tf32,tf33", "", "");
  REQUIRE_FALSE(list.has_value());
  CHECK(list.error().code == Errc::usage);
  CHECK(list.error().message.find("'tf32'") != std::string::npos);
}

TEST_CASE("precisions: a type of the result goes with each of them") {
  const auto list = parse_precisions("fp16,bf16", "", "", "f32");
  REQUIRE(list);
  for (const auto& choice : *list) CHECK(choice.result == "f32");
  CHECK(parse_precisions("", "f16", "f16", "f32")->front().result == "f32");
  CHECK(parse_precisions("tf32", "", "")->front().result.empty());
}
