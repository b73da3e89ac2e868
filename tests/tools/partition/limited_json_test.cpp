#include "tools/partition/limited_json.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace sptile::tools;

namespace {

constexpr JsonLimits kLimits{3, 1000, 8};

std::string repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("JSON within the limits is what it says") {
  const auto json = parse_json(R"({"b": 1, "a": [{"c": true}], "d": "x"})", kLimits);
  REQUIRE(json);
  CHECK(json->dump() == R"({"b":1,"a":[{"c":true}],"d":"x"})");
  CHECK(parse_json(R"({"a": [[1]]})", kLimits));
}

TEST_CASE("text that is no JSON, or only starts as JSON, is none") {
  for (const char* const text : {"", "{", "{\"a\": 1", "[1, 2]]", "{\"a\": \xff}", "nothing"})
    CHECK_FALSE(parse_json(text, kLimits));
}

TEST_CASE("deep, long and wide JSON is refused early, whatever its size") {
  constexpr int kMany = 1 << 22;
  CHECK_FALSE(parse_json(repeat("[", kMany), kLimits));
  CHECK_FALSE(parse_json(repeat("{\"a\":", kMany), kLimits));
  CHECK_FALSE(parse_json("[" + repeat("0,", kMany) + "0]", kLimits));
  std::string keys = "{";
  for (int i = 0; i < 1 << 19; ++i) keys += "\"" + std::to_string(i) + "\":0,";
  CHECK_FALSE(parse_json(keys + "\"a\":0}", {3, 1 << 30, 8}));
  CHECK(parse_json("[" + repeat("0,", 900) + "0]", kLimits));
}
