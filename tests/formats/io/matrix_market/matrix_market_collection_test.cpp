// Collections of files beside the project.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "formats/io/matrix_market/matrix_market_reader.hpp"
#include "formats/layout/csr.hpp"
#include "tests/formats/io/corpus.hpp"
#include "tests/formats/io/read_text.hpp"
#include "tests/skip.hpp"
#include "tests/source_root.hpp"

using namespace sptile;
using namespace sptile::formats;
namespace fs = std::filesystem;

namespace {

const fs::path& collection() {
  static const fs::path folder = source_root() / ".." / "shared" / "matrices";
  return folder;
}

bool absent(const fs::path& path) {
  if (fs::exists(path)) return false;
  skip(path.lexically_normal().string());
  return true;
}

}  // namespace

TEST_CASE("real matrices have the shape that their manifest gives") {
  if (absent(collection() / "MANIFEST.tsv")) return;
  int files = 0;
  for (const auto& row : read_tsv(collection() / "MANIFEST.tsv")) {
    CAPTURE(row[0]);
    MtxReadOptions options;
    options.real_part = true;
    const Result<MtxMatrix> matrix = read_matrix_market((collection() / row[0]).string(), options);
    INFO(error_of(matrix));
    REQUIRE(matrix);
    CHECK(std::to_string(matrix->header.rows) == row[1]);
    CHECK(std::to_string(matrix->header.cols) == row[2]);
    CHECK(std::to_string(matrix->header.entries) == row[3]);
    CHECK((matrix->header.field == MtxField::complex) == (row[4] == "complex"));
    CHECK(matrix->csr.view().is_pattern() == (row[4] == "pattern"));
    CHECK((matrix->header.symmetry == MtxSymmetry::general) == (row[5] == "general"));
    CHECK(check_csr(matrix->csr.view()));
    ++files;
  }
  CHECK(files > 0);
}

TEST_CASE("malformed files found in public test suites are refused, but for one % in the banner") {
  const fs::path folder = collection() / "malformed";
  if (absent(folder)) return;
  const std::map<std::string, std::string> places{
      {"array-pattern.mtx", "1"},      {"bad-banner.mtx", "1"},
      {"bad-field.mtx", "1"},          {"bad-format.mtx", "1"},
      {"bad-object.mtx", "1"},         {"bad-symmetry.mtx", "1"},
      {"bad-value.mtx", "3"},          {"complex-without-values.mtx", "3"},
      {"headerless-3elt.mtx.xz", "1"}, {"index-out-of-range.mtx", "5"},
      {"index-over-int64.mtx", "6"},   {"negative-size.mtx", "3"},
      {"no-banner-array.mtx", "1"},    {"no-banner-west0067.mtx", "1"},
      {"one-percent-banner.mtx", ""},  {"size-over-int64.mtx", "2"},
      {"too-few-entries.mtx", "4"},    {"too-many-entries.mtx", "7"},
      {"truncated-header.mtx", "2"},   {"truncated-line.mtx", "5"},
      {"zero-index.mtx", "3"}};
  std::size_t files = 0;
  for (const auto& row : read_tsv(folder / "NOTES.tsv")) {
    CAPTURE(row[0]);
    ++files;
    REQUIRE(places.contains(row[0]));
    MtxReadOptions options;
    options.real_part = true;
    const std::string path = (folder / row[0]).string();
    const Result<MtxMatrix> result = read_matrix_market(path, options);
    CHECK(verdict_of(result) == (row[0] == "size-over-int64.mtx"      ? "unsupported"
                                 : row[0] == "one-percent-banner.mtx" ? "ok"
                                                                      : "bad_input"));
    if (!result) CHECK(result.error().where == path + ":" + places.at(row[0]));
  }
  CHECK(files == places.size());
}

TEST_CASE("hand-made files that trouble other readers get the right verdict") {
  const fs::path folder = collection() / "handmade";
  if (absent(folder)) return;
  const std::set<std::string> accepted{
      "array_real.mtx", "array_sym.mtx",      "blank_lines.mtx",    "comments_mid.mtx", "crlf.mtx",
      "bom.mtx",        "hermitian_real.mtx", "one_pct.mtx",        "double_field.mtx", "dups.mtx",
      "gz.mtx.gz",      "gz_misnamed.mtx",    "int_overflow32.mtx", "integer.mtx",      "leading_ws.mtx",
      "nan_inf.mtx",    "nnz_gt_cells.mtx",   "no_final_nl.mtx",    "ok.mtx",           "pattern.mtx",
      "plus_sign.mtx",  "skew.mtx",           "sym_lower.mtx",      "sym_upper.mtx",    "unsigned.mtx",
      "upper.mtx",      "val_overflow.mtx",   "zero_dim.mtx"};
  const std::set<std::string> unsupported{"complex.mtx", "dim_overflow.mtx", "hermitian.mtx", "idx_2e31.mtx",
                                          "idx_2e63.mtx"};
  std::size_t named = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.find(".mtx") == name.npos) continue;
    named += accepted.contains(name) || unsupported.contains(name);
    CAPTURE(name);
    const Result<MtxMatrix> result = read_matrix_market(entry.path().string());
    INFO(error_of(result));
    CHECK(verdict_of(result) == (accepted.contains(name)      ? "ok"
                                 : unsupported.contains(name) ? "unsupported"
                                                              : "bad_input"));
    if (result) CHECK(check_csr(result->csr.view()));
  }
  CHECK(named == accepted.size() + unsupported.size());
}
