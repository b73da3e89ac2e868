// Readers of .smtx, .tns and Harwell-Boeing text.
#include <doctest/doctest.h>

#include <string>

#include "formats/io/text/harwell_boeing.hpp"
#include "formats/io/text/smtx.hpp"
#include "formats/io/text/tns.hpp"
#include "formats/layout/csr.hpp"
#include "tests/formats/io/read_text.hpp"

using namespace sptile;
using namespace sptile::formats;

namespace {

Entries entries(const Result<ReadMatrix>& a) {
  if (!a) FAIL(a.error().text());
  CHECK(check_csr(a->csr.view()));
  return entries_of(a->csr.view());
}

Error refusal(const Result<ReadMatrix>& a) {
  REQUIRE(!a);
  return a.error();
}

Result<ReadMatrix> smtx(const std::string& text) {
  return read_smtx(InputBytes::from_memory(text, "a.smtx"));
}
Result<ReadMatrix> tns(const std::string& text) { return read_tns(InputBytes::from_memory(text, "a.tns")); }
Result<ReadMatrix> hb(const std::string& text, bool real_part = false) {
  return read_harwell_boeing(InputBytes::from_memory(text, "a.rua"), real_part);
}

// A header for a line each of pointers, indices and values.
std::string header(const std::string& type, const std::string& sizes, const std::string& values_format,
                   const std::string& counts = "3 1 1 1") {
  std::string format = values_format;
  format.resize(20, ' ');
  return "title\n" + counts + "\n" + type + " " + sizes + " 0\n(8I3)           (8I3)           " + format +
         "\n";
}

}  // namespace

TEST_CASE("smtx is a pattern in CSR, parted by commas and blanks") {
  const auto a = smtx("2, 3, 3\n0 1 3\n2 0 1\n");
  CHECK(entries(a) == Entries{{{0, 2}, 1}, {{1, 0}, 1}, {{1, 1}, 1}});
  CHECK(a->csr.view().is_pattern());
  CHECK(a->csr.cols == 3);
  CHECK(entries(smtx("2,3,0\n0\n0 0\n\n")).empty());
  CHECK(entries(smtx("1 2 3\n0 3\n1\n1 0\n")) == Entries{{{0, 0}, 1}, {{0, 1}, 2}});
}

TEST_CASE("a smtx that breaks its format is refused with its line") {
  CHECK(refusal(smtx("")).text() ==
        "a.smtx:0: the file ends before the number of rows; the file may be truncated");
  CHECK(refusal(smtx("2, x, 3\n")).text().starts_with("a.smtx:1: the number of columns is 'x'"));
  CHECK(refusal(smtx("2, 3, 3\n0 1 3\n2 0 3\n")).text() ==
        "a.smtx:3: a column is '3'; expected a non-negative integer to 2");
  CHECK(refusal(smtx("2, 3, 3\n0 2 1\n2 0 1\n")).code == Errc::bad_input);
  CHECK(refusal(smtx("2, 3, 3\n0 1 3\n2 0\n")).text() ==
        "a.smtx:3: the file ends before a column; the file may be truncated");
  CHECK(
      refusal(smtx("2, 3, 1\n0 1 1\n2 0\n")).text().starts_with("a.smtx:3: more numbers than the 1 columns"));
  CHECK(refusal(smtx("2000000000, 3, 1152921504606846976\n0 1\n")).text().find("the file may be truncated") !=
        std::string::npos);
  CHECK(refusal(smtx("4000000000, 3, 1\n")).code == Errc::unsupported);
}

TEST_CASE("tns of two indices counts from 1 and sums; sizes may stand in front") {
  const auto a = tns("# comment\n1 2 2.5\n\n3 1 1\n1 2 1\n");
  CHECK(entries(a) == Entries{{{0, 1}, 3.5}, {{2, 0}, 1}});
  CHECK(a->duplicates == 1);
  CHECK(a->csr.rows == 3);
  CHECK_FALSE(a->integers);
  const auto sized = tns("2\n4 5\n1 2 7\n");
  CHECK(entries(sized) == Entries{{{0, 1}, 7}});
  CHECK(sized->csr.rows == 4);
  CHECK(sized->csr.cols == 5);
  CHECK(sized->integers);
  CHECK(entries(tns("")).empty());
}

TEST_CASE("a tns of another order or out of range is refused") {
  CHECK(refusal(tns("1 1 1 2.0\n")).code == Errc::unsupported);
  CHECK(refusal(tns("1 1 1 2.0\n")).text() == "a.tns:1: a tensor of 3 indices; expected a matrix with 2");
  CHECK(refusal(tns("3\n2 2 2\n")).code == Errc::unsupported);
  CHECK(refusal(tns("1 1 1\n0 1 1\n")).text().starts_with("a.tns:2: index '0'"));
  CHECK(
      refusal(tns("2\n3 3\n4 1 1\n")).text().starts_with("a.tns:3: index '4' is not an integer from 1 to 3"));
  CHECK(refusal(tns("1 1 x\n")).text() == "a.tns:1: value 'x' is not a number");
  CHECK(refusal(tns("1 1 1\n1 1\n")).text().starts_with("a.tns:2: 2 words; expected row, column, value"));
}

TEST_CASE("text values count what f64 cannot hold") {
  const auto a = tns("1 1 9007199254740993\n1 2 3\n");
  REQUIRE(a);
  CHECK(a->loss.inexact == 1);
  CHECK(a->loss.first->text() == "a.tns:1: integer '9007199254740993' is not exact in f64");
  CHECK(tns("1 1 9007199254740993\n1 2 0.5\n")->loss.inexact == 0);  // not integers
  CHECK(tns("1 1 1e400\n1 2 1e-400\n")->loss.overflowed == 1);
  CHECK(tns("1 1 1e400\n1 2 1e-400\n")->loss.underflowed == 1);
}

TEST_CASE("Harwell-Boeing reads fields of fixed width as Fortran does") {
  const std::string body = "  1  2  3\n  2  1\n";
  const Entries right = {{{1, 0}, 1.5}, {{0, 1}, -20}};
  const struct {
    std::string format, values;
  } rows[] = {{"(2F5.1)", "  1.5-20.0"},
              {"(1P,2E9.2)", "  1.50D+0 -2.0e+01"},
              {"(1p2d9.2)", "  1.5     -2.00+1 "},
              {"(4E5.1)", "   15 -200"},
              {"(2G6.2E2)", " 1.5   -20. "}};
  for (const auto& row : rows) {
    CAPTURE(row.format);
    // P moves the point of numbers without an exponent
    const bool scaled = row.format == "(1p2d9.2)";
    const Entries expected = scaled ? Entries{{{1, 0}, 0.15}, {{0, 1}, -20}} : right;
    CHECK(entries(hb(header("RUA", "2 2 2", row.format) + body + row.values + "\n")) == expected);
  }
  CHECK(entries(hb(header("rua", "2 2 2", "(1F5.1)") + body + "  1.5\r\n-20.0\r\n")) == right);
}

TEST_CASE("Harwell-Boeing types: triangles, patterns, integers, complex values") {
  const std::string triangle = "  1  3  4\n  1  2  2\n", below = "  1  2  2\n  2\n";
  CHECK(entries(hb(header("RSA", "2 2 3", "(3F4.1)") + triangle + " 1.0 2.0 3.0\n")) ==
        Entries{{{0, 0}, 1}, {{0, 1}, 2}, {{1, 0}, 2}, {{1, 1}, 3}});
  CHECK(entries(hb(header("RSA", "2 2 2", "(3F4.1)") + "  1  2  3\n  1  1\n 1.0 2.0\n")) ==
        Entries{{{0, 0}, 1}, {{0, 1}, 2}, {{1, 0}, 2}});  // the upper one
  CHECK(entries(hb(header("RZA", "2 2 1", "(3F4.1)") + below + " 2.0\n")) ==
        Entries{{{0, 1}, -2}, {{1, 0}, 2}});
  const auto pattern = hb(header("PSA", "2 2 1", "", "2 1 1 0") + below);
  CHECK(entries(pattern) == Entries{{{0, 1}, 1}, {{1, 0}, 1}});
  CHECK(pattern->csr.view().is_pattern());
  const auto integers = hb(header("IUA", "2 2 1", "(8I5)") + below + "    7\n");
  CHECK(entries(integers) == Entries{{{1, 0}, 7}});
  CHECK(integers->integers);
  const std::string complex = header("CHA", "2 2 1", "(2F4.1)") + below + " 2.0 5.0\n";
  CHECK(refusal(hb(complex)).code == Errc::unsupported);
  CHECK(entries(hb(complex, true)) == Entries{{{0, 1}, 2}, {{1, 0}, 2}});
  CHECK(entries(hb(header("RRA", "3 2 1", "(8F4.1)") + below + " 2.0\n")) == Entries{{{1, 0}, 2}});
  CHECK(refusal(hb(header("RSE", "2 2 1", "(8F4.1)") + below)).text().find("unassembled") !=
        std::string::npos);
  CHECK(refusal(hb(header("RUE", "2 2 1", "(8F4.1)") + below)).code == Errc::unsupported);
}

TEST_CASE("right-hand sides are ignored") {
  const auto a = hb(header("RUA", "2 2 1", "(8F4.1)", "4 1 1 1 1") + "F  1 0\n  1  2  2\n  2\n 3.0\n 9.0\n");
  CHECK(entries(a) == Entries{{{1, 0}, 3}});
  CHECK(a->notes.size() == 1);
}

TEST_CASE("a Harwell-Boeing file that breaks its format is refused with its line") {
  const auto with = [](const std::string& sizes, const std::string& format, const std::string& body) {
    return refusal(hb(header("RUA", sizes, format) + body)).text();
  };
  CHECK(refusal(hb("title\n")).text().starts_with("a.rua:1: the file ends before the counts"));
  CHECK(refusal(hb("title\nno numbers\n")).text().starts_with("a.rua:2: expected four line counts"));
  CHECK(with("2 2 x", "(8F4.1)", "").starts_with("a.rua:3: 'x' in the header"));
  CHECK(with("2 2 2", "(8Q4.1)", "").starts_with("a.rua:4: format '(8Q4.1)'"));
  CHECK(with("2 2 2", "(8F4.1)", "  1  2  3\n  3  1\n") ==
        "a.rua:6: a row index is '3'; expected an integer from 1 to 2");
  CHECK(
      with("2 2 9999999999", "(8F4.1)", "  1  2  3\n  2  1\n").starts_with("a.rua:6: the line ends before"));
  CHECK(with("2 2 2", "(8F4.1)", "  1  3  2\n  2  1\n 1.0 2.0\n").find("expected offsets from 0") !=
        std::string::npos);
  CHECK(with("2 2 2", "(8F4.1)", "  1  2  3\n  2  1\n 1.0 a.0\n") == "a.rua:7: value 'a.0' is not a number");
  CHECK(with("4000000000 2 2", "(8F4.1)", "").find("4000000000 rows") != std::string::npos);
  CHECK(refusal(hb(header("RSA", "3 2 1", "(8F4.1)"))).text().find("square") != std::string::npos);
}
