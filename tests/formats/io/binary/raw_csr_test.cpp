#include "formats/io/binary/raw_csr.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/formats/io/read_text.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;

namespace {

template <class T>
void put(std::string& bytes, const std::vector<T>& numbers) {
  bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T));
}

// 3 x 4, in layout 1 or, where there is a type, 2.
struct File {
  std::string magic = std::string(kRawCsrMagic);
  std::int32_t rows = 3, cols = 4;
  std::vector<std::int32_t> dtype = {};
  std::int64_t nnz = 4;
  std::vector<std::int64_t> row_ptr = {0, 2, 2, 4};
  std::vector<std::int32_t> columns = {0, 3, 1, 2};
  std::string rest = {};

  [[nodiscard]] std::string bytes() const {
    std::string all = magic;
    put(all, std::vector{rows, cols});
    put(all, dtype);
    put(all, std::vector{nnz});
    if (dtype.empty())
      put(all, std::vector<std::int32_t>(row_ptr.begin(), row_ptr.end()));
    else
      put(all, row_ptr);
    put(all, columns);
    return all + rest;
  }
};

File wide(DType dtype, std::string rest) {
  File file;
  file.magic = kRawCsrMagic2;
  file.dtype = {static_cast<std::int32_t>(dtype)};
  file.rest = std::move(rest);
  return file;
}

Result<Csr> read(const std::string& bytes) { return read_raw_csr(InputBytes::from_memory(bytes, "a.csr")); }

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a raw CSR file is read as the pattern that it is, in both layouts") {
  for (const File& file : {File(), wide(DType::none, "")}) {
    const auto a = read(file.bytes());
    REQUIRE(a.has_value());
    CHECK(a->rows == 3);
    CHECK(a->cols == 4);
    CHECK(a->view().is_pattern());
    CHECK(std::vector<std::int64_t>(a->row_ptr.begin(), a->row_ptr.end()) ==
          std::vector<std::int64_t>{0, 2, 2, 4});
    CHECK(std::vector<std::int32_t>(a->col_idx.begin(), a->col_idx.end()) ==
          std::vector<std::int32_t>{0, 3, 1, 2});
  }
}

TEST_CASE("values follow the columns, at a multiple of 8 bytes") {
  std::string values;
  put(values, std::vector<double>{1, -2, 0.5, 4});
  auto a = read(wide(DType::f64, values).bytes());
  REQUIRE(a.has_value());
  CHECK(a->values.as<double>()[1] == -2);
  File odd = wide(DType::f32, std::string(4, '\0'));
  put(odd.rest, std::vector<float>{1, -2, 0.5});
  odd.nnz = 3;
  odd.row_ptr = {0, 2, 2, 3};
  odd.columns.pop_back();
  a = read(odd.bytes());
  REQUIRE(a.has_value());
  CHECK(a->values.as<float>()[2] == 0.5F);
}

TEST_CASE("what is written reads back identically, byte for byte as documented") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.csr";
  for (const char* matrix : {"%%MatrixMarket matrix coordinate real general\n3 5 3\n1 5 0.1\n3 1 -2\n3 2 0\n",
                             "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 2\n",
                             "%%MatrixMarket matrix coordinate real general\n0 3 0\n"})
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      const auto a = read_text(matrix, with_dtype(dtype));
      REQUIRE(a);
      REQUIRE(write_raw_csr(a->csr.view(), path, true));
      const auto back = read_raw_csr(path);
      REQUIRE(back);
      CHECK(identical(back->view(), a->csr.view()));
    }
  const File file = wide(DType::none, "");
  REQUIRE(write_raw_csr(read(file.bytes())->view(), path, true));
  CHECK(content(path) == file.bytes());
  CHECK(write_raw_csr(read(file.bytes())->view(), path, false).error().code == Errc::usage);
}

TEST_CASE("files that say anything else are refused, before memory is asked for") {
  const auto refused = [](const File& file) {
    const auto a = read(file.bytes());
    return !a.has_value() && a.error().code == Errc::bad_input;
  };
  for (const File& good : {File(), wide(DType::none, ""), wide(DType::f16, std::string(8, '\0'))}) {
    REQUIRE(read(good.bytes()).has_value());
    File magic = good, rows = good, nnz = good, most = good, negative = good, cut = good, longer = good,
         order = good, range = good, offsets = good;
    magic.magic = "3RSC";
    rows.rows = INT32_MAX;
    nnz.nnz = std::int64_t{1} << 40;
    most.nnz = INT64_MAX;
    negative.rows = -1;
    cut.columns.pop_back();
    longer.columns.push_back(0);
    order.columns = {3, 0, 1, 2};
    range.columns = {0, 4, 1, 2};
    offsets.row_ptr = {0, 3, 2, 4};
    for (const File& file : {magic, rows, nnz, most, negative, cut, longer, order, range, offsets})
      CHECK(refused(file));
    const std::string whole = good.bytes();
    for (std::size_t length = 0; length < whole.size(); ++length) CHECK(!read(whole.substr(0, length)));
  }
  CHECK(refused(wide(DType::i32, std::string(16, '\0'))));
  CHECK(refused(wide(static_cast<DType>(10), "")));
  CHECK(read_raw_csr("/nowhere/none.csr").error().code == Errc::io);
}
