#include "tools/raw_csr.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <vector>

#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::tools;

namespace {
struct File {
  std::int32_t magic = kRawCsrMagic, rows = 3, cols = 4;
  std::int64_t nnz = 4;
  std::vector<std::int32_t> row_ptr = {0, 2, 2, 4}, columns = {0, 3, 1, 2};

  void write(const std::string& path) const {
    std::ofstream out(path, std::ios::binary);
    const auto put = [&](const auto& x) { out.write(reinterpret_cast<const char*>(&x), sizeof(x)); };
    put(magic), put(rows), put(cols), put(nnz);
    for (const std::int32_t x : row_ptr) put(x);
    for (const std::int32_t x : columns) put(x);
  }
};
}  // namespace

TEST_CASE("a raw CSR file is read as the pattern that it is") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.csr";
  File().write(path);
  const auto a = read_raw_csr(path);
  REQUIRE(a.has_value());
  CHECK(a->rows == 3);
  CHECK(a->cols == 4);
  CHECK(a->view().is_pattern());
  CHECK(std::vector<std::int64_t>(a->row_ptr.begin(), a->row_ptr.end()) ==
        std::vector<std::int64_t>{0, 2, 2, 4});
  CHECK(std::vector<std::int32_t>(a->col_idx.begin(), a->col_idx.end()) ==
        std::vector<std::int32_t>{0, 3, 1, 2});
}

TEST_CASE("files that say anything else are refused, before memory is asked for") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.csr";
  const auto refused = [&](const File& file) {
    file.write(path);
    const auto a = read_raw_csr(path);
    return !a.has_value() && a.error().code == Errc::bad_input;
  };
  File magic, rows, nnz, negative, cut, longer, order, range, offsets;
  magic.magic = 1;
  rows.rows = INT32_MAX;
  nnz.nnz = std::int64_t{1} << 40;
  negative.rows = -1;
  cut.columns.pop_back();
  longer.columns.push_back(0);
  order.columns = {3, 0, 1, 2};
  range.columns = {0, 4, 1, 2};
  offsets.row_ptr = {0, 3, 2, 4};
  for (const File& file : {magic, rows, nnz, negative, cut, longer, order, range, offsets})
    CHECK(refused(file));
  CHECK(read_raw_csr(folder / "none.csr").error().code == Errc::io);
}
