#include "formats/io/matrix_market/matrix_market_reader.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "formats/layout/csr.hpp"
#include "tests/formats/io/read_text.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;

namespace {

const std::string kReal = "%%MatrixMarket matrix coordinate real general\n";

MtxMatrix read(const std::string& text, const MtxReadOptions& options = with_dtype(DType::f64)) {
  Result<MtxMatrix> matrix = read_text(text, options);
  INFO(error_of(matrix));
  REQUIRE(matrix);
  CHECK(check_csr(matrix->csr.view()));
  return *std::move(matrix);
}

Entries entries(const std::string& text, const MtxReadOptions& options = with_dtype(DType::f64)) {
  return entries_of(read(text, options).csr.view());
}

// Reads the same text in blocks of every size; verdict, message and matrix must not change.
void check_all_block_sizes(std::string_view text) {
  const auto limit = static_cast<std::int64_t>(text.size()) + 1;
  const Result<MtxMatrix> whole = read_text(text, {}, {.block_bytes = limit + 100});
  for (std::int64_t size = 1; size <= limit; ++size) {
    CAPTURE(size);
    const Result<MtxMatrix> pieces =
        read_text(text, {}, {.block_bytes = size, .segment_entries = 1 + size % 3});
    REQUIRE(error_of(pieces) == error_of(whole));
    if (!whole) continue;
    REQUIRE(identical(pieces->csr.view(), whole->csr.view()));
    REQUIRE(pieces->duplicates == whole->duplicates);
    REQUIRE(pieces->nonfinite == whole->nonfinite);
    REQUIRE(pieces->loss.overflowed == whole->loss.overflowed);
    REQUIRE(pieces->loss.underflowed == whole->loss.underflowed);
    REQUIRE(pieces->loss.inexact == whole->loss.inexact);
    REQUIRE(pieces->loss.first.has_value() == whole->loss.first.has_value());
    if (whole->loss.first) REQUIRE(pieces->loss.first->text() == whole->loss.first->text());
  }
}

std::string random_text(unsigned seed, std::int64_t rows, std::int64_t entries, const char* symmetry,
                        bool shuffled) {
  std::mt19937 random(seed);
  std::string text = "%%MatrixMarket matrix coordinate real " + std::string(symmetry) + "\n" +
                     std::to_string(rows) + " " + std::to_string(rows) + " " + std::to_string(entries) + "\n";
  for (std::int64_t i = 0; i < entries; ++i) {
    auto row = shuffled ? static_cast<std::int64_t>(random()) % rows : i * rows / entries;
    auto col = static_cast<std::int64_t>(random()) % rows;
    if (std::string_view(symmetry) != "general" && row < col) std::swap(row, col);
    if (random() % 50 == 0) text += "% a comment\n";
    text += std::to_string(row + 1) + " " + std::to_string(col + 1) + " " + std::to_string(random() % 1000) +
            ".25\n";
  }
  return text;
}

}  // namespace

TEST_CASE("coordinate real general") {
  CHECK(entries(kReal + "3 4 3\n1 1 1.5\n3 4 -2e-3\n2 1 0\n") ==
        Entries{{{0, 0}, 1.5}, {{1, 0}, 0.0}, {{2, 3}, -2e-3}});
}

TEST_CASE("coordinate pattern has no values") {
  const MtxMatrix matrix = read("%%MatrixMarket matrix coordinate pattern general\n2 3 2\n2 1\n1 3\n");
  CHECK(matrix.csr.view().is_pattern());
  CHECK(entries_of(matrix.csr.view()) == Entries{{{0, 2}, 1}, {{1, 0}, 1}});
}

TEST_CASE("a matrix without entries has values of the type asked for, a pattern has none") {
  CHECK(read(kReal + "3 3 0\n", with_dtype(DType::bf16)).csr.values.dtype() == DType::bf16);
  CHECK(read("%%MatrixMarket matrix coordinate pattern general\n3 3 0\n").csr.view().is_pattern());
}

TEST_CASE("symmetric files are expanded with the diagonal once, from either triangle") {
  const Entries full{{{0, 0}, 1}, {{1, 0}, 2}, {{0, 1}, 2}, {{2, 1}, 3}, {{1, 2}, 3}};
  const std::string banner = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n";
  CHECK(entries(banner + "1 1 1\n2 1 2\n3 2 3\n") == full);
  CHECK(entries(banner + "1 1 1\n1 2 2\n2 3 3\n") == full);
}

TEST_CASE("skew-symmetric files are expanded with the sign changed") {
  CHECK(entries("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 3\n3 1 -4\n") ==
        Entries{{{1, 0}, 3}, {{0, 1}, -3}, {{2, 0}, -4}, {{0, 2}, 4}});
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    const MtxMatrix matrix =
        read("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 3\n", with_dtype(dtype));
    const Array values = convert_values(matrix.csr.values.view(), DType::f64);
    CHECK(values.as<double>()[0] == -3);
    CHECK(values.as<double>()[1] == 3);
  }
}

TEST_CASE("zeros on the diagonal of a skew-symmetric matrix are kept, other values are refused") {
  const std::string banner = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n2 1 3\n";
  for (const char* zero : {"0", "0.0", "-0", "0e5"})
    CHECK(entries(banner + "1 1 " + zero + "\n") == Entries{{{0, 0}, 0}, {{1, 0}, 3}, {{0, 1}, -3}});
  CHECK(error_of(read_text(banner + "1 1 0.5\n")) ==
        "a.mtx:4: value '0.5' on the diagonal of a skew-symmetric matrix; it must be 0");
}

TEST_CASE("white space, a byte-order mark or one percent sign before the banner is accepted") {
  const std::string body = "3 4 1\n3 4 1.5\n", mark = "\xEF\xBB\xBF";
  for (const std::string& start : {" " + kReal, "\t  " + kReal, "\n\r\n \n" + kReal, mark + kReal,
                                   mark + " " + kReal, kReal.substr(1), " " + kReal.substr(1)})
    CHECK(entries(start + body) == Entries{{{2, 3}, 1.5}});
  for (const std::string& start :
       {"x" + kReal, "% " + kReal.substr(2), kReal.substr(2), "% a comment\n" + kReal})
    CHECK(error_of(read_text(start + body)).find("a.mtx:1: expected a Matrix Market banner, got ") == 0);
}

TEST_CASE("hermitian matrices of real values, of integers or without values are symmetric") {
  const Entries full{{{0, 0}, 1}, {{1, 0}, 2}, {{0, 1}, 2}};
  CHECK(entries("%%MatrixMarket matrix coordinate real hermitian\n2 2 2\n1 1 1\n2 1 2\n") == full);
  CHECK(entries("%%MatrixMarket matrix coordinate integer hermitian\n2 2 2\n1 1 1\n2 1 2\n") == full);
  CHECK(entries("%%MatrixMarket matrix coordinate pattern hermitian\n2 2 1\n2 1\n") ==
        Entries{{{1, 0}, 1}, {{0, 1}, 1}});
  CHECK(entries("%%MatrixMarket matrix array real hermitian\n2 2\n1\n2\n3\n") ==
        Entries{{{0, 0}, 1}, {{1, 0}, 2}, {{0, 1}, 2}, {{1, 1}, 3}});
}

TEST_CASE("array files are read by columns, every value an entry") {
  CHECK(entries("%%MatrixMarket matrix array real general\n2 3\n1\n2\n0\n4\n5\n6\n") ==
        Entries{{{0, 0}, 1}, {{1, 0}, 2}, {{0, 1}, 0}, {{1, 1}, 4}, {{0, 2}, 5}, {{1, 2}, 6}});
  CHECK(entries("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n") ==
        Entries{{{0, 0}, 1}, {{1, 0}, 2}, {{0, 1}, 2}, {{1, 1}, 3}});
  CHECK(entries("%%MatrixMarket matrix array real skew-symmetric\n3 3\n21\n31\n32\n") ==
        Entries{{{1, 0}, 21}, {{0, 1}, -21}, {{2, 0}, 31}, {{0, 2}, -31}, {{2, 1}, 32}, {{1, 2}, -32}});
  CHECK(entries("%%MatrixMarket matrix array real skew-symmetric\n1 1\n").empty());
}

TEST_CASE("complex files are refused, or give their real part") {
  const std::string text = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1.5 0\n2 1 3 -1\n";
  const Result<MtxMatrix> refused = read_text(text);
  REQUIRE(!refused);
  CHECK(refused.error().code == Errc::unsupported);
  CHECK(error_of(refused) == "a.mtx:1: the values are complex; --real-part reads the real parts");
  MtxReadOptions options = with_dtype(DType::f64);
  options.real_part = true;
  CHECK(entries(text, options) == Entries{{{0, 0}, 1.5}, {{1, 0}, 3}, {{0, 1}, 3}});
  CHECK(entries("%%MatrixMarket matrix array complex general\n2 1\n1 2\n3 4\n", options) ==
        Entries{{{0, 0}, 1}, {{1, 0}, 3}});
  CHECK(error_of(read_text("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 5\n", options)) ==
        "a.mtx:3: 3 words; expected row, column, real part, imaginary part");
  CHECK(error_of(read_text("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 5 i\n", options)) ==
        "a.mtx:3: value 'i' is not a number; expected a number such as -1.5E3");
}

TEST_CASE("duplicates are summed and counted") {
  const MtxMatrix matrix = read(kReal + "3 3 4\n1 1 1\n1 1 2\n3 1 1\n1 1 0.5\n");
  CHECK(entries_of(matrix.csr.view()) == Entries{{{0, 0}, 3.5}, {{2, 0}, 1}});
  CHECK(matrix.duplicates == 2);
  CHECK(matrix.header.entries == 4);
}

TEST_CASE("values that are not finite are kept and counted, also those that the value type makes so") {
  const std::string text = kReal + "3 3 6\n1 1 NaN\n1 2 -Inf\n1 3 1e400\n2 1 1e-400\n2 2 1e300\n2 3 70000\n";
  const MtxMatrix wide = read(text);
  CHECK(wide.nonfinite == 3);
  CHECK(std::isnan(entries_of(wide.csr.view())[{0, 0}]));
  CHECK(entries_of(wide.csr.view())[{0, 1}] == -std::numeric_limits<double>::infinity());
  CHECK(entries_of(wide.csr.view())[{1, 0}] == 0);
  CHECK(read(text, with_dtype(DType::f32)).nonfinite == 4);
  CHECK(read(text, with_dtype(DType::f16)).nonfinite == 5);
}

TEST_CASE("values that are finite in the text alone are counted, the first one with its line and place") {
  const std::string text =
      kReal + "3 3 6\n1 1 NaN\n1 2 -Inf\n% none\n1 3 1e400\n2 1 1\n2 2 1e300\n2 3 70000\n";
  const MtxMatrix wide = read(text);
  CHECK(wide.loss.overflowed == 1);
  CHECK(wide.loss.first->text() == "a.mtx:6: value '1e400' is too large for f64, in row 1, column 3");
  CHECK(wide.loss.first->code == Errc::bad_input);
  CHECK(read(text, with_dtype(DType::f32)).loss.overflowed == 2);
  CHECK(read(text, with_dtype(DType::f16)).loss.overflowed == 3);
  const MtxMatrix none = read(kReal + "2 2 1\n1 2 -Inf\n");
  CHECK(none.loss.overflowed == 0);
  CHECK_FALSE(none.loss.first.has_value());
  check_all_block_sizes(text);
}

TEST_CASE("overflows of other kinds of files") {
  const std::string digits(60, '9');
  const auto first = [](const std::string& text, DType dtype) {
    return read(text, with_dtype(dtype)).loss.first.value_or(Error{}).text();
  };
  CHECK(first("%%MatrixMarket matrix array real general\n2 1\n1\n1e39\n", DType::f32) ==
        "a.mtx:4: value '1e39' is too large for f32");
  CHECK(first("%%MatrixMarket matrix coordinate integer general\n2 2 1\n2 1 70000\n", DType::f16) ==
        "a.mtx:3: value '70000' is too large for f16, in row 2, column 1");
  CHECK(first("%%MatrixMarket matrix coordinate real general\n2 2 1\n2\t1   " + digits + "\n", DType::f32) ==
        "a.mtx:3: value '9999999999999999999999999999999999999999...' is too large for f32, in row 2, column "
        "1");
}

TEST_CASE("values that become 0 and integers that change are counted with their line") {
  const std::string text = kReal + "1 3 3\n1 1 0.000e5\n1 2 -1e-60\n1 3 1e-400\n";
  CHECK(read(text, with_dtype(DType::f64)).loss.underflowed == 1);
  CHECK(read(text, with_dtype(DType::f32)).loss.underflowed == 2);
  CHECK(read(text, with_dtype(DType::f32)).loss.first->text() ==
        "a.mtx:4: value '-1e-60' is too small for f32, in row 1, column 2");
  check_all_block_sizes(text);
  const std::string integers =
      "%%MatrixMarket matrix coordinate integer general\n2 3 5\n1 1 16777216\n1 2 -16777217\n1 3 "
      "9007199254740993\n2 1 18446744073709551615\n2 2 70000\n";
  CHECK(read(integers, with_dtype(DType::f64)).loss.inexact == 2);
  CHECK(read(integers, with_dtype(DType::f32)).loss.inexact == 3);
  CHECK(read(integers, with_dtype(DType::bf16)).loss.inexact == 4);
  CHECK(read(integers, with_dtype(DType::f16)).loss.overflowed == 5);
  CHECK(read(integers, with_dtype(DType::f32)).loss.first->text() ==
        "a.mtx:4: integer '-16777217' is not exact in f32, in row 1, column 2");
  CHECK(read(integers).integers);
  check_all_block_sizes(integers);
}

TEST_CASE("a pattern with repeated entries has their counts, also of a symmetric one") {
  const MtxMatrix a = read("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 4\n2 1\n2 1\n1 1\n2 1\n");
  CHECK(a.duplicates == 4);
  CHECK(entries_of(a.csr.view()) == Entries{{{0, 0}, 1}, {{0, 1}, 3}, {{1, 0}, 3}});
  CHECK(read("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n").csr.view().is_pattern());
}

TEST_CASE("the header alone tells what is wrong with it") {
  const TemporaryFolder folder;
  const auto header = [&](const std::string& text) {
    std::ofstream(folder / "a.mtx") << text;
    return read_matrix_market_header(folder / "a.mtx");
  };
  const auto good = header(kReal + "3 4 1\n9 9 wrong\n");  // the body is not looked at
  REQUIRE(good.has_value());
  CHECK(good->rows == 3);
  CHECK(good->cols == 4);
  CHECK(header("hello\n").error().code == Errc::bad_input);
  CHECK(header("").error().code == Errc::bad_input);
  CHECK(header("%%MatrixMarket matrix coordinate complex general\n1 1 0\n").error().code ==
        Errc::unsupported);
  CHECK(header(kReal + "3 4 1000000\n" + std::string(100000, ' ')).error().text().find("declares") !=
        std::string::npos);
  CHECK(read_matrix_market_header(folder / "absent.mtx").error().code == Errc::io);
}

TEST_CASE("the header is reported as it is") {
  const MtxMatrix matrix = read("%%MatrixMarket matrix coordinate INTEGER Symmetric\n3 3 2\n1 1 1\n3 1 2\n");
  CHECK(matrix.header.coordinate);
  CHECK(matrix.header.field == MtxField::integer);
  CHECK(matrix.header.symmetry == MtxSymmetry::symmetric);
  CHECK(matrix.header.rows == 3);
  CHECK(matrix.header.entries == 2);
  CHECK(matrix.csr.nnz() == 3);
}

TEST_CASE("blocks may end at any byte") {
  check_all_block_sizes(kReal + "% c\n3 3 4\n\n1 1 1.5\n  % x\n1 3 -2\r\n3 3 12345678901234567890\n2 2 1e-3");
  check_all_block_sizes(
      "%%MatrixMarket matrix coordinate pattern symmetric\r\n5 5 5\r\n1 1\r\n5 1\r\n5 5\r\n3 2\r\n4 4\r\n");
  check_all_block_sizes("%%MatrixMarket matrix array integer general\n2 3\n1\n-2\n\n% c\n3\n4\n5\n600");
  check_all_block_sizes(kReal + "3 3 4\n1 1 1\n2 2 2\n% c\n\n3 3 1,5\n0 0 0\n");
  check_all_block_sizes(kReal + "3 3 2\n1 1 1\n2 2 2\n\n% c\n3 3 3\n");
  check_all_block_sizes(kReal + "3 3 9\n1 1 1\n2 2 2\n3 3");
  check_all_block_sizes(
      "%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n1 1 1\n4 1 2\n% c\n2 4 7\n9 9 9\n");
  check_all_block_sizes(random_text(1, 20, 60, "general", true));
  check_all_block_sizes(random_text(2, 20, 60, "general", false));
}

TEST_CASE("the same matrix and the same message for one thread and for two") {
  std::string broken = random_text(5, 300, 20000, "general", true);
  broken[broken.size() / 3] = 'x';
  broken[broken.size() / 2] = 'y';
  const std::vector<std::string> texts{random_text(3, 300, 20000, "general", true),
                                       random_text(4, 300, 20000, "symmetric", true), broken};
  for (const std::string& text : texts) {
    const auto with_threads = [&](std::size_t threads) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      return read_text(text, {}, {.block_bytes = 1000});
    };
    const Result<MtxMatrix> one = with_threads(1), two = with_threads(2), eight = with_threads(8);
    CHECK(error_of(one) == error_of(two));
    CHECK(error_of(one) == error_of(eight));
    if (one) CHECK(identical(one->csr.view(), two->csr.view()));
    if (one) CHECK(identical(one->csr.view(), eight->csr.view()));
  }
}

TEST_CASE("sorted, unsorted and scattered memory give the same matrix as a simple reader") {
  for (const char* symmetry : {"general", "symmetric"})
    for (const bool shuffled : {false, true}) {
      const std::string text = random_text(7, 50, 3000, symmetry, shuffled);
      Entries expected;
      std::istringstream lines(text);
      std::string line;
      std::getline(lines, line);
      std::getline(lines, line);
      while (std::getline(lines, line)) {
        if (line[0] == '%') continue;
        std::istringstream words(line);
        std::int64_t row = 0, col = 0;
        double value = 0;
        words >> row >> col >> value;
        expected[{row - 1, col - 1}] += value;
        if (symmetry[0] == 's' && row != col) expected[{col - 1, row - 1}] += value;
      }
      CHECK(entries(text) == expected);
      const Result<MtxMatrix> scattered =
          read_text(text, with_dtype(DType::f64), {.block_bytes = 500, .segment_entries = 40});
      REQUIRE(scattered);
      CHECK(entries_of(scattered->csr.view()) == expected);
    }
}

TEST_CASE("a header that lies about its entries is refused before memory is taken") {
  const std::string big(100000, '\n');
  for (const char* entries : {"4000000000000", "1000000000000000000", "99999999999999999999999999"}) {
    const std::string size_line = "3 3 " + std::string(entries) + "\n";
    CHECK(error_of(read_text(kReal + size_line + "1 1 1\n")).find("a.mtx:3: the file ends after 1 of") == 0);
    CHECK(error_of(read_text(kReal + size_line + "1 1 1\n" + big)).find("a.mtx:2: the header declares") == 0);
  }
  // The bound is exact: the shortest file that can hold its entries is read.
  std::string shortest = "%%MatrixMarket matrix coordinate pattern general\n9 9 30000\n";
  for (int i = 0; i < 30000; ++i) shortest += "1 1\n";
  shortest.pop_back();
  CHECK(read_text(shortest).has_value());
}

TEST_CASE("rows that do not fit in memory are refused with the bytes they need") {
  const Result<MtxMatrix> refused = read_text(kReal + "2147483647 1 0\n", {}, {.memory_limit = 1 << 30});
  REQUIRE(!refused);
  CHECK(refused.error().code == Errc::io);
  CHECK(error_of(refused) ==
        "a.mtx: the row pointers of 2147483647 rows need 16.0 GiB of memory, but only 1.0 GiB is available");
  CHECK(read_text(kReal + "1000000 1 1\n1000000 1 5\n", {}, {.memory_limit = 1 << 30}).has_value());
}

TEST_CASE("with compress_rows only the rows with entries of a mostly empty matrix are kept") {
  MtxReadOptions options = with_dtype(DType::f64);
  options.compress_rows = true;
  const std::string shape = "2147483647 2147483647 3\n", body = "2147483647 1 2\n5 4 1\n2147483647 1 3\n";
  const auto matrix = read_text(kReal + shape + body, options, {.memory_limit = 1 << 20});
  REQUIRE(matrix);
  REQUIRE(matrix->nonempty);
  CHECK(matrix->nonempty->rows == 2147483647);
  CHECK(std::vector<std::int32_t>(matrix->nonempty->ids.begin(), matrix->nonempty->ids.end()) ==
        std::vector<std::int32_t>{4, 2147483646});
  CHECK(entries_of(matrix->csr.view()) == Entries{{{0, 3}, 1}, {{1, 0}, 5}});
  CHECK(matrix->duplicates == 1);
  const auto mirrored =
      read_text("%%MatrixMarket matrix coordinate real skew-symmetric\n" + shape + body, options);
  REQUIRE(mirrored);
  REQUIRE(mirrored->nonempty);
  CHECK(entries_of(mirrored->csr.view()) ==
        Entries{{{0, 2147483646}, -5}, {{1, 4}, -1}, {{2, 3}, 1}, {{3, 0}, 5}});
  const auto dense = read_text(kReal + "2000 3 1\n7 2 1\n", options);
  REQUIRE(dense);
  CHECK(!dense->nonempty);
  CHECK(dense->csr.rows == 2000);
}

TEST_CASE("reading can be cancelled and tells how far it is") {
  Progress progress;
  MtxReadOptions options;
  options.progress = &progress;
  const std::string text = random_text(3, 300, 5000, "general", true);
  CHECK(read_text(text, options, {.block_bytes = 1000}).has_value());
  CHECK(progress.total == static_cast<std::int64_t>(text.size()));
  CHECK(progress.done > progress.total * 9 / 10);
  CHECK(progress.done <= progress.total);
  progress.cancelled = true;
  const Result<MtxMatrix> cancelled = read_text(text, options, {.block_bytes = 1000});
  REQUIRE(!cancelled);
  CHECK(cancelled.error().code == Errc::io);
  CHECK(cancelled.error().message == "cancelled");
}

TEST_CASE("files, hashes, and names that cannot be read") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.mtx";
  std::ofstream(path) << "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n";
  MtxReadOptions options;
  options.hash_source = true;
  const Result<MtxMatrix> matrix = read_matrix_market(path, options);
  REQUIRE(matrix);
  // sha256sum of those 59 bytes
  CHECK(matrix->source_sha256 == "9f60f08610be9741fe762db34911796cfe5e84ab2bc031064b8056d22d28adb2");
  CHECK(read_matrix_market(path)->source_sha256.empty());
  CHECK(read_matrix_market(folder / "missing.mtx").error().code == Errc::io);
  CHECK(error_of(read_matrix_market(folder / "missing.mtx")) ==
        folder / "missing.mtx" + ": cannot open: No such file or directory");
  CHECK(read_matrix_market(folder.path().string()).error().code == Errc::io);
}

TEST_CASE("standard input is read to its end and called <stdin>") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const std::string text = kReal + "2 2 1\n1 3 1\n";
  REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  const int saved = ::dup(STDIN_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  const Result<MtxMatrix> result = read_matrix_market("-");
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  ::close(ends[0]);
  CHECK(error_of(result) == "<stdin>:3: column index 3; columns are 1 to 2");
}
