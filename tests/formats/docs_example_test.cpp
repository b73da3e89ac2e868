// Every format's page works out a matrix of data/examples: its arrays must be what the converter gives.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/io/matrix_market/matrix_market.hpp"
#include "formats/layout/registry.hpp"

using namespace sptile;

namespace {

std::string source_root() {
  const char* root = std::getenv("SPTILE_SOURCE_ROOT");
  REQUIRE(root != nullptr);
  return root;
}

// A block "```text arrays MATRIX" of a page: one line per array.
struct Example {
  std::string matrix;
  std::vector<std::string> lines;
};

std::vector<Example> examples_of(const std::string& page) {
  constexpr std::string_view kFence = "```text arrays ";
  std::ifstream file(source_root() + "/docs/reference/formats/" + page);
  REQUIRE_MESSAGE(file.good(), "no page " << page);
  std::vector<Example> examples;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = line.starts_with(kFence);
      if (inside) examples.push_back({line.substr(kFence.size()), {}});
    } else if (inside) {
      examples.back().lines.push_back(line);
    }
  }
  return examples;
}

template <class T>
void compare(std::istringstream& expected, std::span<const T> found) {
  for (const T x : found) {
    std::string word;
    REQUIRE(static_cast<bool>(expected >> word));
    if constexpr (std::is_same_v<T, float>)
      CHECK(std::stof(word) == x);
    else
      CHECK(std::stoull(word, nullptr, 0) == static_cast<unsigned long long>(x));
  }
  std::string rest;
  CHECK_FALSE(static_cast<bool>(expected >> rest));
}

void compare(std::istringstream& expected, const ArrayView& found) {
  switch (found.dtype) {
    case DType::u8:
      return compare(expected, found.as<std::uint8_t>());
    case DType::i32:
      return compare(expected, found.as<std::int32_t>());
    case DType::u32:
      return compare(expected, found.as<std::uint32_t>());
    case DType::i64:
      return compare(expected, found.as<std::int64_t>());
    case DType::u64:
      return compare(expected, found.as<std::uint64_t>());
    case DType::f32:
      return compare(expected, found.as<float>());
    default:
      FAIL("type that no example uses");
  }
}

// Compares one example with what the converter makes of its matrix.
void verify(const Example& example, const formats::Converter& converter) {
  CAPTURE(example.matrix);
  const auto matrix = formats::read_matrix_market(source_root() + "/" + example.matrix);
  REQUIRE(matrix.has_value());
  const auto data = converter.from_csr(matrix->csr.view(), nullptr);
  REQUIRE(data.has_value());
  const formats::FormatView view = data->view();
  REQUIRE(example.lines.size() == view.layout->arrays.size());
  for (std::size_t i = 0; i < example.lines.size(); ++i) {
    CAPTURE(example.lines[i]);
    std::istringstream line(example.lines[i]);
    std::string name, type;
    line >> name >> type;
    CHECK(name == view.layout->arrays[i].name);
    CHECK(type ==
          std::string(name_of(view.arrays[i].dtype)) + "[" + std::to_string(view.arrays[i].size) + "]");
    compare(line, view.arrays[i]);
  }
}

}  // namespace

TEST_CASE("docs: the worked examples of each format are what its converter gives") {
  for (const formats::FormatLayout* layout : formats::layouts()) {
    CAPTURE(layout->name);
    const formats::Converter* converter = formats::find_converter(layout->name);
    REQUIRE(converter != nullptr);
    const std::vector<Example> examples = examples_of(std::string(layout->name) + ".md");
    CHECK(examples.size() >= 1);
    for (const Example& example : examples) verify(example, *converter);
  }
}
