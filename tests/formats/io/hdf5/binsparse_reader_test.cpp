#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "formats/io/hdf5/binsparse.hpp"
#include "formats/io/hdf5/hdf5_matrix.hpp"
#include "formats/io/stream/input_bytes.hpp"
#include "formats/layout/csr.hpp"
#include "tests/formats/io/binsparse_file.hpp"
#include "tests/formats/io/read_text.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;

namespace {

using I = std::vector<std::int32_t>;
using L = std::vector<std::int64_t>;
using U = std::vector<std::uint64_t>;
using F = std::vector<float>;
using D = std::vector<double>;

std::string describe(const std::string& format, const std::string& shape, const std::string& values,
                     const std::string& more = "") {
  return R"({"binsparse":{"version":"0.1","format":")" + format + R"(","shape":)" + shape +
         R"(,"data_types":{"values":")" + values + "\"}" + more + R"(},"author":"x"})";
}

// 3 x 4: row 0 has columns 0 and 3, row 2 columns 1 and 2.
BinsparseFile csr() {
  return {describe("CSR", "[3,4]", "float64"),
          {BinsparseArray::of("pointers_to_1", U{0, 2, 2, 4}), BinsparseArray::of("indices_1", U{0, 3, 1, 2}),
           BinsparseArray::of("values", D{2, 1, 3, 4})}};
}
const Entries kEntries = {{{0, 0}, 2}, {{0, 3}, 1}, {{2, 1}, 3}, {{2, 2}, 4}};

Result<ReadMatrix> read_path(const std::string& path, bool real_part = false) {
  const auto input = InputBytes::open(path);
  if (!input) return tl::unexpected(input.error());
  return read_hdf5_matrix(Hdf5Reader::open(input->fd(), path), path, real_part);
}

struct Reader {
  TemporaryFolder folder = {};
  std::string path = folder / "a.bsp.h5";

  Result<ReadMatrix> operator()(const BinsparseFile& file, bool real_part = false) const {
    REQUIRE(file.write(path));
    return read_path(path, real_part);
  }
  [[nodiscard]] std::string error(const BinsparseFile& file) const {
    const auto a = (*this)(file);
    REQUIRE(!a);
    return a.error().text().substr(path.size());
  }
};

Entries doubles(const Result<ReadMatrix>& matrix) {
  REQUIRE(matrix);
  Csr csr = copy(matrix->csr.view());
  CHECK(check_csr(csr.view()));
  if (csr.values.present()) csr.values = convert_values(csr.values.view(), DType::f64);
  return entries_of(csr.view());
}

}  // namespace

TEST_CASE("CSR, CSC and coordinates of indices of any width are the same matrix") {
  const Reader read;
  CHECK(doubles(read(csr())) == kEntries);
  CHECK(doubles(read({describe("CSC", "[3,4]", "int32", R"(,"number_of_stored_values":4)"),
                      {BinsparseArray::of("pointers_to_1", L{0, 1, 2, 3, 4}),
                       BinsparseArray::of("indices_1", std::vector<std::uint8_t>{0, 2, 2, 0}),
                       BinsparseArray::of("values", I{2, 3, 4, 1})}})) == kEntries);
  for (const char* format : {"COO", "COOR"})
    CHECK(doubles(read({describe(format, "[3,4]", "float32"),
                        {BinsparseArray::of("indices_0", I{0, 0, 2, 2}),
                         BinsparseArray::of("indices_1", I{0, 3, 1, 2}),
                         BinsparseArray::of("values", F{2, 1, 3, 4})}})) == kEntries);
  CHECK(doubles(read(
            {describe("COOC", "[3,4]", "float32"),
             {BinsparseArray::of("indices_0", I{0, 1, 2, 3}), BinsparseArray::of("indices_1", I{0, 2, 2, 0}),
              BinsparseArray::of("values", F{2, 3, 4, 1})}})) == kEntries);
}

TEST_CASE("values: one for all, booleans, complex") {
  const Reader read;
  BinsparseFile file = csr();
  const auto with = [&](const std::string& type, BinsparseArray values) {
    file.descriptor = describe("CSR", "[3,4]", type);
    file.arrays[2] = std::move(values);
    return file;
  };
  CHECK(read(with("iso[float32]", BinsparseArray::of("values", F{1})))->csr.view().is_pattern());
  const Entries sevens = doubles(read(with("iso[float32]", BinsparseArray::of("values", F{7}))));
  CHECK(sevens == Entries{{{0, 0}, 7}, {{0, 3}, 7}, {{2, 1}, 7}, {{2, 2}, 7}});
  CHECK(read(with("bint8", BinsparseArray::of("values", std::vector<std::uint8_t>{1, 1, 2, 1})))
            ->csr.view()
            .is_pattern());
  CHECK(doubles(read(with(
            "bint8", BinsparseArray::of("values", std::vector<std::uint8_t>{1, 0, 1, 1}))))[{0, 3}] == 0);
  CHECK(!read(with("float32", BinsparseArray::of("values", F{1, 1, 1, 1})))->csr.view().is_pattern());
  with("complex[float64]", BinsparseArray::of("values", D{2, 9, 1, 9, 3, 9, 4, 9}));
  CHECK(doubles(read(file, true)) == kEntries);
  CHECK(read(file).error().code == Errc::unsupported);
  CHECK(doubles(read(with("iso[complex[float64]]", BinsparseArray::of("values", D{7, 9})), true)) == sevens);
}

TEST_CASE("one triangle makes the whole matrix") {
  const Reader read;
  const auto lower = [](const std::string& structure, const std::string& type, const BinsparseArray& values,
                        I columns = {0, 0, 1}) {
    return BinsparseFile{describe("CSR", "[3,3]", type, R"(,"structure":")" + structure + "\""),
                         {BinsparseArray::of("pointers_to_1", L{0, 1, 2, 3}),
                          BinsparseArray::of("indices_1", columns), values}};
  };
  const BinsparseArray three = BinsparseArray::of("values", D{1, 2, 3});
  const Entries whole = {{{0, 0}, 1}, {{0, 1}, 2}, {{1, 0}, 2}, {{1, 2}, 3}, {{2, 1}, 3}};
  CHECK(doubles(read(lower("symmetric_lower", "float64", three))) == whole);
  CHECK(doubles(read(
            lower("hermitian_lower", "complex[float64]", BinsparseArray::of("values", D{1, 0, 2, 9, 3, 9})),
            true)) == whole);
  CHECK(doubles(read(lower("symmetric_upper", "float64", three, {0, 2, 2}))) ==
        Entries{{{0, 0}, 1}, {{1, 2}, 2}, {{2, 1}, 2}, {{2, 2}, 3}});
  CHECK(read(lower("symmetric_lower", "iso[float32]", BinsparseArray::of("values", F{1})))
            ->csr.view()
            .is_pattern());
  BinsparseFile skew =
      lower("skew_symmetric_lower", "float32", BinsparseArray::of("values", F{2, 3}), {0, 1});
  skew.arrays[0] = BinsparseArray::of("pointers_to_1", L{0, 0, 1, 2});
  CHECK(doubles(read(skew)) == Entries{{{0, 1}, -2}, {{1, 0}, 2}, {{1, 2}, -3}, {{2, 1}, 3}});
  skew.descriptor = lower("skew_symmetric_lower", "iso[float32]", three).descriptor;
  skew.arrays[2] = BinsparseArray::of("values", F{1});
  CHECK(doubles(read(skew)) == Entries{{{0, 1}, -1}, {{1, 0}, 1}, {{1, 2}, -1}, {{2, 1}, 1}});
  CHECK(read.error(lower("symmetric_lower", "float64", three, {0, 2, 1})) ==
        ": the entry at row 1, column 2 (from 0) is outside the lower triangle, the only one stored");
  CHECK(read.error(lower("skew_symmetric_lower", "float64", three)).find("row 0, column 0") !=
        std::string::npos);
  CHECK(read.error(lower("hermitian_lower", "float64", three)) ==
        ": has the structure 'hermitian_lower', but real values");
  CHECK(read.error(lower("banded", "float64", three)) == ": the matrix has the structure 'banded'");
}

TEST_CASE("what is wrong is refused with its array, before memory is asked for") {
  const Reader read;
  const auto described = [&](const std::string& descriptor) {
    BinsparseFile file = csr();
    file.descriptor = descriptor;
    return read.error(file);
  };
  CHECK(
      described("") ==
      ": an HDF5 file with 'indices_1', 'pointers_to_1', 'values', but neither a bundle nor binsparse: the "
      "sptile "
      "header and the attribute 'binsparse' are missing; HDF5 tools that copy a bundle may drop the header");
  for (const char* text : {"{", "[]", "{\"binsparse\":3}", "7"})
    CHECK(described(text).starts_with(": the attribute 'binsparse' is not a descriptor: "));
  CHECK(described(std::string(60000, '[')).starts_with(": the attribute 'binsparse' is not a descriptor: "));
  CHECK(described(R"({"binsparse":{}})") == ": the descriptor has no format");
  CHECK(described(R"({"binsparse":{"version":"1.0"}})") == ": is binsparse '1.0'; sptile reads 0.1");
  CHECK(described(R"({"binsparse":{"format":"DMAT"}})") ==
        ": the matrix has the binsparse format 'DMAT'; sptile reads CSR, CSC, COO, COOR and COOC");
  CHECK(described(R"({"binsparse":{"format":{"level":"dense"}}})").find("'custom'") != std::string::npos);
  for (const char* shape : {"[3]", "3", "[3,-4]", "[3,4.5]", "[\"3\",4]", "[1,2,3]"})
    CHECK(described(describe("CSR", shape, "float64")) == ": the descriptor has no two-dimensional shape");
  CHECK(described(describe("CSR", "[3,18446744073709551615]", "float64"))
            .starts_with(": the matrix has 3 rows and -1"));
  CHECK(described(describe("CSR", "[1099511627776,4]", "float64"))
            .starts_with(": the matrix has 1099511627776 rows"));
  CHECK(described(describe("CSR", "[2147483647,4]", "float64")) ==
        ":pointers_to_1: has 4 elements, not 2147483648");
  CHECK(described(describe("CSR", "[3,4]", "float64", R"(,"number_of_stored_values":5)")) ==
        ":indices_1: has 4 elements, not 5");
  CHECK(described(describe("CSR", "[3,4]", "float64", R"(,"fill":true)")).find("fill value") !=
        std::string::npos);
  CHECK(described(describe("CSR", "[3,4]", "float64", R"(,"structure":"symmetric_lower")")) ==
        ": has the structure 'symmetric_lower', but 3 rows and 4 columns");
  CHECK(described(describe("COO", "[3,4]", "float64")) == ":indices_0: the array is missing");

  const auto with = [&](std::size_t which, const BinsparseArray& array) {
    BinsparseFile file = csr();
    file.arrays[which] = array;
    return read.error(file);
  };
  CHECK(with(0, BinsparseArray::of("pointers_to_1", L{0, 3, 2, 4})) ==
        ": pointers_to_1[2] is 2; expected offsets from 0 to 4, the number of indices");
  CHECK(with(0, BinsparseArray::of("pointers_to_1", D{0, 2, 2, 4})) ==
        ":pointers_to_1: has real numbers; indices are integers");
  CHECK(with(1, BinsparseArray::of("indices_1", L{0, 4, 1, 2})) == ":indices_1: 4 at 1; expected 0 to 3");
  CHECK(with(1, BinsparseArray::of("indices_1", L{0, -1, 1, 2})) == ":indices_1: -1 at 1; expected 0 to 3");
  CHECK(with(1, BinsparseArray::of("indices_1", U{0, UINT64_MAX, 1, 2})) ==
        ":indices_1: 2147483647 at 1; expected 0 to 3");
  CHECK(with(1, BinsparseArray::of("indices_1", L{0, std::int64_t{1} << 32, 1, 2})).find("2147483647 at 1") !=
        std::string::npos);
  CHECK(with(2, BinsparseArray::of("values", D{1, 2, 3})) == ":values: has 3 elements, not 4");
  CHECK(with(2, BinsparseArray::of("other", D{1, 2, 3, 4})) == ":values: the array is missing");
  CHECK(read_path("/nowhere/a.bsp.h5").error().code == Errc::io);
}

TEST_CASE("what is written reads back identically, is the same each time, and appears whole") {
  const TemporaryFolder folder;
  const auto content = [&](const std::string& name) {
    std::ifstream in(folder / name, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  for (const char* matrix : {"%%MatrixMarket matrix coordinate real general\n3 5 3\n1 5 0.1\n3 1 -2\n3 2 0\n",
                             "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 2\n",
                             "%%MatrixMarket matrix coordinate real general\n0 3 0\n"})
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      auto a = read_text(matrix, with_dtype(dtype));
      REQUIRE(a);
      REQUIRE(write_binsparse(a->csr.view(), folder / "a.bsp.h5", true));
      REQUIRE(write_binsparse(a->csr.view(), folder / "b.bsp.h5", true));
      CHECK(content("a.bsp.h5") == content("b.bsp.h5"));
      const auto back = read_path(folder / "a.bsp.h5");
      REQUIRE(back);
      if (!a->csr.view().is_pattern() && dtype != DType::f64)
        a->csr.values = convert_values(a->csr.values.view(), DType::f32);
      CHECK(identical(back->csr.view(), a->csr.view()));
      CHECK(write_binsparse(a->csr.view(), folder / "a.bsp.h5", false).error().code == Errc::usage);
    }
}

TEST_CASE("a file that is cut off anywhere is refused") {
  const Reader read;
  REQUIRE(read(csr()));
  std::ifstream in(read.path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t length = 0; length < whole.size(); length += 97) {
    std::ofstream(read.path, std::ios::binary) << whole.substr(0, length);
    CHECK(!read_path(read.path));
  }
}
