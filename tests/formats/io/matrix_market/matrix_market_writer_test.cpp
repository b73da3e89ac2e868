#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "formats/core/value_types.hpp"
#include "formats/io/matrix_market/matrix_market.hpp"
#include "formats/io/text/print_number.hpp"
#include "tests/formats/io/read_text.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;

namespace {

std::string content(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Rows of very different lengths, and values of every exponent.
Csr random_csr(std::int64_t rows, DType dtype, unsigned seed) {
  std::mt19937_64 random(seed);
  Csr a;
  a.rows = rows;
  a.cols = 50000;
  a.row_ptr = Buffer<std::int64_t>(rows + 1);
  a.row_ptr[0] = 0;
  std::vector<std::int32_t> cols;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto length = row % 100 == 7 ? random() % 40000 : random() % 5;
    for (std::size_t i = 0; i < length; ++i) cols.push_back(static_cast<std::int32_t>(i));
    a.row_ptr[row + 1] = static_cast<std::int64_t>(cols.size());
  }
  a.col_idx = Buffer<std::int32_t>(static_cast<std::int64_t>(cols.size()));
  std::copy(cols.begin(), cols.end(), a.col_idx.begin());
  if (dtype == DType::none) return a;
  Array values(DType::f64, a.nnz());
  for (double& value : values.as<double>()) {
    do
      value = dtype == DType::f64
                  ? std::bit_cast<double>(random())
                  : static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    while (std::isnan(value));
  }
  a.values = convert_values(values.view(), dtype);
  return a;
}

template <class T>
std::string printed(T value) {
  char text[kLongestValue];
  return {text, print_value(text, value)};
}

}  // namespace

TEST_CASE("the text is what the format page shows") {
  const TemporaryFolder folder;
  const Result<MtxMatrix> matrix = read_text(
      "%%MatrixMarket matrix coordinate real general\n3 12 4\n1 10 0.1\n3 1 -2\n3 2 0\n3 12 1e30\n");
  REQUIRE(matrix);
  MtxWriteOptions options;
  options.comment = "first\nsecond";
  REQUIRE(write_matrix_market(matrix->csr.view(), folder / "a.mtx", options));
  CHECK(content(folder / "a.mtx") ==
        "%%MatrixMarket matrix coordinate real general\n% first\n% second\n3 12 4\n"
        "1 10 0.1\n3 1 -2\n3 2 0\n3 12 1e+30\n");
  Csr pattern = copy(matrix->csr.view());
  pattern.values = Array();
  REQUIRE(write_matrix_market(pattern.view(), folder / "b.mtx"));
  CHECK(content(folder / "b.mtx") ==
        "%%MatrixMarket matrix coordinate pattern general\n3 12 4\n1 10\n3 1\n3 2\n3 12\n");
}

TEST_CASE("what is written reads back identically, for every value type and any number of threads") {
  const TemporaryFolder folder;
  for (const DType dtype : {DType::none, DType::f16, DType::bf16, DType::f32, DType::f64}) {
    CAPTURE(name_of(dtype));
    const Csr a = random_csr(500, dtype, 6);
    MtxReadOptions options;
    if (dtype != DType::none) options.dtype = dtype;
    std::vector<std::string> texts;
    for (const std::size_t threads : {1, 2, 5}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      MtxWriteOptions replace;
      replace.force = true;
      REQUIRE(write_matrix_market(a.view(), folder / "a.mtx", replace));
      const Result<MtxMatrix> back = read_matrix_market(folder / "a.mtx", options);
      INFO(error_of(back));
      REQUIRE(back);
      CHECK(identical(back->csr.view(), a.view()));
      texts.push_back(content(folder / "a.mtx"));
    }
    CHECK(texts[0] == texts[1]);
    CHECK(texts[0] == texts[2]);
  }
}

TEST_CASE("empty matrices are written too") {
  const TemporaryFolder folder;
  Csr a = random_csr(0, DType::f32, 1);
  REQUIRE(write_matrix_market(a.view(), folder / "a.mtx"));
  CHECK(content(folder / "a.mtx") == "%%MatrixMarket matrix coordinate real general\n0 50000 0\n");
}

TEST_CASE("values are printed in the shortest form that reads back") {
  CHECK(printed(0.1F) == "0.1");
  CHECK(printed(0.1) == "0.1");
  CHECK(printed(-0.0) == "-0");
  CHECK(printed(1e22) == "1e+22");
  CHECK(printed(to_half(0.1F)) == "0.1");
  CHECK(printed(to_bfloat16(3.14159F)) == "3.14");
  CHECK(printed(to_half(65504)) == "65504");
  CHECK(printed(to_half(-2048)) == "-2048");
  CHECK(printed(std::numeric_limits<float>::infinity()) == "inf");
  CHECK(printed(-std::numeric_limits<double>::infinity()) == "-inf");
  CHECK(printed(Half{0xfc00}) == "-inf");
  CHECK(printed(Half{0x7e00}) == "nan");
}

TEST_CASE("every 16-bit value reads back, and no shorter text would") {
  const auto check_all = [](auto type) {
    using T = typename decltype(type)::type;
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
      const T value{static_cast<std::uint16_t>(bits)};
      if (std::isnan(to_float(value))) continue;
      const std::string text = printed(value);
      wrong += round_to<T>(std::stod(text)) == value ? 0 : 1;
      wrong += text.size() <= printed(to_float(value)).size() ? 0 : 1;
    }
    CHECK(wrong == 0);
  };
  check_all(std::type_identity<Half>{});
  check_all(std::type_identity<BFloat16>{});
}

TEST_CASE("an existing file is kept, and a failing write leaves nothing") {
  const TemporaryFolder folder;
  const Csr a = random_csr(10, DType::f32, 1);
  std::ofstream(folder / "a.mtx") << "old";
  const Status refused = write_matrix_market(a.view(), folder / "a.mtx");
  REQUIRE(!refused);
  CHECK(refused.error().code == Errc::usage);
  CHECK(content(folder / "a.mtx") == "old");
  Progress progress;
  progress.cancelled = true;
  MtxWriteOptions options;
  options.progress = &progress;
  CHECK(!write_matrix_market(a.view(), folder / "b.mtx", options));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}
