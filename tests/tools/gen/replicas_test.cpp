// Replicas have the bytes of the matrices of published measurements. The checksums are those of the program
// that made these matrices, with fewer rows.
#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "tools/gen/generator.hpp"

using namespace sptile;
using namespace sptile::tools;

namespace {

/// FNV-1a of the bytes of two arrays.
class Checksum {
 public:
  template <class T>
  void add(const T* values, std::int64_t count) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(values);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count) * sizeof(T); ++i)
      hash_ = (hash_ ^ bytes[i]) * 1099511628211ull;
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 14695981039346656037ull;
};

struct Published {
  const char* kind;
  std::vector<double> arguments;
  std::uint64_t structure;              // row pointers, 8 bytes each, and columns, 4 bytes each
  std::optional<std::uint64_t> values;  // nothing: published as a pattern
};

const Published kPublished[] = {
    {"reddit-like", {3000}, 0x53cdd0de8063553b, 0xf6a23c99f1da7908},
    {"reddit-like-ordered", {3000}, 0x2dde0e67c04f4289, 0x40b0fe8a2594f4e1},
    {"protein-like", {3000}, 0x57a2d4cd873fcbfb, 0xa74bd5670cbea95d},
    {"ddi-like", {3000}, 0x079d17d5031d0599, 0x93eccbba1cbafdf1},
    {"yeasth-like", {3000}, 0x47d5df2e537a6530, 0xcc7f4b79db98a716},
    {"ovcar-8h-like", {3000}, 0x7ed8cc55ca99cd31, 0xe97513fa5853067d},
    {"dd-like", {3000}, 0x3d37b963b93bdf7f, 0x97dc91986acdf6ec},
    {"amazon0601-like", {3000}, 0x014b64b1a67f8f17, 0x9d2429fcf9dad4df},
    {"web-berkstan-like", {3000}, 0xe15ee14655bbb630, 0xcbd24fc2af817e32},
    {"roadnet-like", {3000}, 0x7698b503a51758aa, 0x663e739a63c24333},
    {"igb-small-like", {3000}, 0xde635084537004a0, 0x8dbe598c3145b6af},
    {"fem-like", {7}, 0x1a4adaf092264015, 0x18006daff7fc1fcd},
    {"rmat20", {10, 20000}, 0xef19fe68c7241c92, 0xe9679cb4b9eb3384},
    {"grid", {30}, 0x221ce1ddb52352cc, std::nullopt},
    {"fem27", {8}, 0x8ee5ede8e814e19b, std::nullopt},
    {"mol", {60}, 0x3622bfaed0cb9a13, std::nullopt},
    {"sbm", {3000, 20000, 0.2}, 0x5cf4804d6a80af08, std::nullopt},
    {"copy", {2000, 16, 0.7}, 0xc784b9a1a8bf67e9, std::nullopt},
    {"rmat18", {9}, 0x31ac54a55518eefc, std::nullopt},
};

const gen::Generator& find(std::string_view name) {
  for (const gen::Generator& kind : gen::generators())
    if (kind.name == name) return kind;
  FAIL("no such kind");
  return gen::generators().front();
}

formats::Csr make(const Published& published, std::uint64_t seed = 1) {
  const gen::Generator& kind = find(published.kind);
  REQUIRE(kind.arguments.size() == published.arguments.size());
  Parameters arguments;
  for (std::size_t i = 0; i < kind.arguments.size(); ++i)
    arguments.emplace_back(kind.arguments[i].name, kind.arguments[i].integer
                                                       ? ParameterValue(std::llround(published.arguments[i]))
                                                       : ParameterValue(published.arguments[i]));
  auto a = gen::generate(kind, arguments, {.seed = seed});
  REQUIRE(a.has_value());
  return std::move(*a);
}

std::uint64_t structure_of(const formats::Csr& a) {
  Checksum sum;
  sum.add(a.row_ptr.data(), a.rows + 1);
  sum.add(a.col_idx.data(), a.nnz());
  return sum.value();
}

}  // namespace

TEST_CASE("replicas have the bytes of the published matrices") {
  for (const Published& published : kPublished) {
    CAPTURE(published.kind);
    const formats::Csr a = make(published);
    CHECK(structure_of(a) == published.structure);
    Checksum values;
    values.add(a.values.as<float>().data(), a.nnz());
    CHECK(values.value() == published.values.value_or(values.value()));
  }
}

TEST_CASE("replicas depend on the seed, except the finite elements") {
  for (const Published& published : kPublished) {
    CAPTURE(published.kind);
    const bool fixed = std::string_view(published.kind) == "fem-like";
    CHECK((structure_of(make(published, 2)) == published.structure) == fixed);
  }
}

TEST_CASE("without options, a replica has the number of rows of its data set") {
  struct Default {
    const char* kind;
    double value;
  };
  for (const Default& expected : {Default{"reddit-like", 232965},
                                  {"reddit-like-ordered", 232965},
                                  {"protein-like", 132534},
                                  {"ddi-like", 4267},
                                  {"yeasth-like", 3138114},
                                  {"ovcar-8h-like", 1889542},
                                  {"dd-like", 334925},
                                  {"amazon0601-like", 403394},
                                  {"web-berkstan-like", 685230},
                                  {"roadnet-like", 1971281},
                                  {"igb-small-like", 1000000},
                                  {"fem-like", 69},
                                  {"rmat20", 20}}) {
    CAPTURE(expected.kind);
    CHECK(find(expected.kind).arguments[0].default_value == expected.value);
  }
}
