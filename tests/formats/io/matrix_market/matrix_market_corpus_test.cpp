// Whole files: those of data/, with the verdicts of data/verdicts.tsv.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "formats/io/matrix_market/matrix_market_reader.hpp"
#include "formats/layout/csr.hpp"
#include "tests/formats/io/corpus.hpp"
#include "tests/formats/io/read_text.hpp"
#include "tests/source_root.hpp"

using namespace sptile;
using namespace sptile::formats;
namespace fs = std::filesystem;

namespace {

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string shape_of(const MtxMatrix& matrix) {
  return std::to_string(matrix.csr.rows) + " " + std::to_string(matrix.csr.cols) + " " +
         std::to_string(matrix.csr.nnz());
}

// `detail` is "LINE: PART OF THE MESSAGE", or the part alone where no line is to blame.
void check_message(const Error& error, const std::string& name, const std::string& detail) {
  const std::size_t digits = detail.find_first_not_of("0123456789");
  const bool has_line = digits > 0 && detail.compare(digits, 2, ": ") == 0;
  CHECK(error.where == (has_line ? name + ":" + detail.substr(0, digits) : name));
  CHECK(error.message.find(has_line ? detail.substr(digits + 2) : detail) != std::string::npos);
}

// The verdict on one file, through the file and from memory, in blocks of many sizes.
void check_file(const fs::path& path, const std::string& verdict, const std::string& detail) {
  const Result<MtxMatrix> result = read_matrix_market(path.string());
  INFO(error_of(result));
  REQUIRE(verdict_of(result) == verdict);
  if (result) {
    CHECK(shape_of(*result) == detail);
    CHECK(check_csr(result->csr.view()));
  } else {
    check_message(result.error(), path.string(), detail);
  }
  const std::string bytes = bytes_of(path);
  for (const std::int64_t size : {1, 2, 3, 5, 7, 16, 33, 60, 1000}) {
    CAPTURE(size);
    const Result<MtxMatrix> pieces = read_matrix_market(InputBytes::from_memory(bytes, path.string()), {},
                                                        {.block_bytes = size, .segment_entries = 2});
    REQUIRE(error_of(pieces) == error_of(result));
    if (result) REQUIRE(identical(pieces->csr.view(), result->csr.view()));
  }
}

}  // namespace

TEST_CASE("every file of data has the verdict that data/verdicts.tsv gives") {
  const fs::path data = source_root() / "data";
  std::set<std::string> folders, listed;
  for (const auto& row : read_tsv(data / "verdicts.tsv")) {
    REQUIRE(row.size() == 3);
    CAPTURE(row[0]);
    listed.insert(row[0]);
    folders.insert(fs::path(row[0]).parent_path().string());
    check_file(data / row[0], row[1], row[2]);
  }
  CHECK(folders == std::set<std::string>{"invalid", "overflow", "permissive", "unsupported", "valid"});
  for (const std::string& folder : folders)
    for (const auto& entry : fs::directory_iterator(data / folder)) {
      CAPTURE(entry.path().string());
      CHECK(listed.contains(folder + "/" + entry.path().filename().string()));
    }
}
