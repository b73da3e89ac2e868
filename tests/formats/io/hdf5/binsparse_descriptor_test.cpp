#include "formats/io/hdf5/binsparse_descriptor.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>
#include <string>

using namespace sptile::formats;

namespace {

long left = -1;  // allocations until one fails; negative: none does

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (left == 0) throw std::bad_alloc();
  if (left > 0) --left;
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

const std::string kText =
    R"({"author":["somebody with a long name, which needs memory",{"binsparse":1}],"binsparse":)"
    R"({"version":"0.1, and more text than a string holds in itself","format":"CSR","shape":[3,4],"other":)"
    R"({"shape":[1,2],"format":"x"},"structure":"symmetric_lower","fill":true,"number_of_stored_values":7,)"
    R"("data_types":{"values":"iso[float32]","pointers_to_1":"int64"}}})";

}  // namespace

TEST_CASE("a descriptor is read, and members of the same name elsewhere are not") {
  const auto found = parse_binsparse_descriptor(kText);
  REQUIRE(found);
  CHECK(found->version.starts_with("0.1, and"));
  CHECK(found->format == "CSR");
  CHECK(found->shape == std::vector<std::int64_t>{3, 4});
  CHECK(found->structure == "symmetric_lower");
  CHECK(found->values == "iso[float32]");
  CHECK(found->stored_values == 7);
  CHECK(found->fill);
}

TEST_CASE("members of other types count as missing") {
  const auto found = parse_binsparse_descriptor(
      R"({"binsparse":{"version":1,"format":["CSR"],"shape":{"0":3,"1":4},"structure":null,"fill":1,)"
      R"("number_of_stored_values":-7,"data_types":"values"}})");
  REQUIRE(found);
  CHECK(found->version.empty());
  CHECK(found->format == "custom");
  CHECK(found->shape.empty());
  CHECK(found->structure == "");
  CHECK(found->values.empty());
  CHECK(found->stored_values == -1);
  CHECK(!found->fill);
  CHECK(!parse_binsparse_descriptor(R"([{"binsparse":{}}])"));
  CHECK(!parse_binsparse_descriptor(R"({"a":{"binsparse":{}}})"));
}

TEST_CASE("memory that is missing is an exception, whichever allocation fails") {
  bool done = false;
  for (long allowed = 0; !done; ++allowed) {
    left = allowed;
    try {
      done = parse_binsparse_descriptor(kText).has_value();
    } catch (const std::bad_alloc&) {
    }
    left = -1;
    REQUIRE(allowed < 1000);
  }
}

TEST_CASE("a descriptor nested deep is refused") {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(!parse_binsparse_descriptor(R"({"binsparse":{"x":)" + nested(30000) + "}}"));
}
