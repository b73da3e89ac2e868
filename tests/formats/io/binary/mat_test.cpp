#include "formats/io/binary/mat.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include <zlib.h>

#include "formats/layout/csr.hpp"
#include "tests/formats/io/read_text.hpp"

using namespace sptile;
using namespace sptile::formats;

namespace {

template <class T>
std::string bytes_of(const std::vector<T>& numbers, bool swapped = false) {
  std::string bytes;
  for (const T number : numbers) {
    char one[sizeof(T)];
    std::memcpy(one, &number, sizeof(T));
    bytes += swapped ? std::string(std::rend(one) - sizeof(T), std::rend(one)) : std::string(one, sizeof(T));
  }
  return bytes;
}

struct Mat {
  bool swapped = false;

  [[nodiscard]] std::string element(std::uint32_t type, const std::string& data) const {
    std::string padded = data;
    padded.resize((data.size() + 7) / 8 * 8, '\0');
    return bytes_of<std::uint32_t>({type, static_cast<std::uint32_t>(data.size())}, swapped) + padded;
  }
  template <class T>
  [[nodiscard]] std::string numbers(std::uint32_t type, const std::vector<T>& values) const {
    return element(type, bytes_of(values, swapped));
  }
  [[nodiscard]] std::string variable(std::uint32_t flags, const std::string& name, const std::string& rest,
                                     std::int32_t rows = 2, std::int32_t cols = 3) const {
    return element(14, numbers<std::uint32_t>(6, {flags, 0}) + numbers<std::int32_t>(5, {rows, cols}) +
                           element(1, name) + rest);
  }
  // (0, 0) = 1, (1, 2) = 2, room for a third one.
  [[nodiscard]] std::string sparse(const std::string& name, std::uint32_t flags = 5,
                                   std::vector<double> values = {1, 2, 0}) const {
    return variable(flags, name,
                    numbers<std::int32_t>(5, {0, 1, 0}) + numbers<std::int32_t>(5, {0, 1, 1, 2}) +
                        numbers<double>(9, values) + (flags > 0x800 ? numbers<double>(9, {7, 7, 7}) : ""));
  }
  [[nodiscard]] std::string file(const std::string& elements) const {
    std::string header = "MATLAB 5.0 MAT-file";
    header.resize(124, ' ');
    return header + std::string(swapped ? "\1\0MI" : "\0\1IM", 4) + elements;
  }
};

std::string deflated(const std::string& element) {
  std::string out(::compressBound(element.size()), '\0');
  uLongf length = out.size();
  REQUIRE(::compress(reinterpret_cast<Bytef*>(out.data()), &length,
                     reinterpret_cast<const Bytef*>(element.data()), element.size()) == Z_OK);
  out.resize(length);
  return bytes_of<std::uint32_t>({15, static_cast<std::uint32_t>(length)}) + out;
}

Result<ReadMatrix> read(const std::string& bytes, bool real_part = false) {
  return read_mat(InputBytes::from_memory(bytes, "a.mat"), real_part);
}

const Entries kEntries = {{{0, 0}, 1}, {{1, 2}, 2}};

Entries entries(const Result<ReadMatrix>& a) {
  if (!a) FAIL(a.error().text());
  CHECK(check_csr(a->csr.view()));
  return entries_of(a->csr.view());
}

}  // namespace

TEST_CASE(
    "a sparse matrix of a MAT-file is read in both byte orders, deflated or not, among other variables") {
  const Mat mat, swapped{true};
  CHECK(is_mat(mat.file("")));
  CHECK(is_mat(swapped.file("")));
  CHECK_FALSE(is_mat("%%MatrixMarket matrix coordinate real general\n"));
  const std::string dense = mat.variable(6, "x", mat.numbers<double>(9, std::vector<double>(6, 1)));
  CHECK(entries(read(mat.file(mat.sparse("M")))) == kEntries);
  CHECK(entries(read(swapped.file(swapped.sparse("M")))) == kEntries);
  CHECK(entries(read(mat.file(dense + mat.sparse("M") + dense))) == kEntries);
  CHECK(entries(read(mat.file(deflated(dense) + deflated(mat.sparse("M")) + deflated(dense)))) == kEntries);
}

TEST_CASE("logical values are a pattern, complex ones are refused or halved") {
  const Mat mat;
  const auto logical =
      read(mat.file(mat.variable(0x205, "L",
                                 mat.numbers<std::int32_t>(5, {0, 1}) +
                                     mat.numbers<std::int32_t>(5, {0, 1, 1, 2}) + mat.element(2, "\1\1"))));
  CHECK(entries(logical) == Entries{{{0, 0}, 1}, {{1, 2}, 1}});
  CHECK(logical->csr.view().is_pattern());
  const std::string complex = mat.file(mat.sparse("C", 0x805));
  CHECK(read(complex).error().code == Errc::unsupported);
  CHECK(read(complex).error().text() == "a.mat:C: the values are complex; --real-part reads the real parts");
  CHECK(entries(read(complex, true)) == kEntries);
}

TEST_CASE("of several sparse matrices A is taken, in a struct, too; else their names are told") {
  const Mat mat;
  const std::string others = mat.sparse("B", 5, {8, 9, 0});
  CHECK(entries(read(mat.file(others + mat.sparse("A")))) == kEntries);
  CHECK(entries(read(mat.file(mat.sparse("A") + others))) == kEntries);
  CHECK(read(mat.file(others + mat.sparse("M"))).error().text() ==
        "a.mat: a MAT-file with 2 sparse matrices ('B', 'M'); save only one, or name it A");
  CHECK(read(mat.file("")).error().text().starts_with("a.mat: a MAT-file without a sparse matrix"));
  const std::string problem =
      mat.variable(2, "Problem",
                   mat.numbers<std::int32_t>(5, {2}) + mat.element(1, std::string("Z\0A\0", 4)) +
                       mat.sparse("", 5, {8, 9, 0}) + mat.sparse(""),
                   1, 1);
  CHECK(entries(read(mat.file(problem))) == kEntries);
  CHECK(entries(read(mat.file(deflated(problem)))) == kEntries);
}

TEST_CASE("what is no MAT-file of level 5 is refused by name") {
  CHECK(read("MATLAB 7.3 MAT-file").error().code == Errc::unsupported);
  CHECK(read("MATLAB 7.3 MAT-file").error().text().find("HDF5") != std::string::npos);
  const std::string level4 =
      bytes_of<std::uint32_t>({0, 2, 3, 0, 2}) + std::string("A\0", 2) + std::string(48, '\0');
  CHECK(is_mat(level4));
  CHECK(read(level4).error().code == Errc::unsupported);
}

TEST_CASE("damage is refused before memory is asked for") {
  const Mat mat;
  const std::string whole = mat.file(mat.sparse("M")), packed = mat.file(deflated(mat.sparse("M")));
  for (std::size_t size = 129; size < whole.size(); ++size) CHECK(!read(whole.substr(0, size)));
  for (std::size_t size = 129; size < packed.size(); ++size) CHECK(!read(packed.substr(0, size)));
  CHECK(read(mat.file(bytes_of<std::uint32_t>({14, 0xfffffff0u}))).error().text().find("declares") !=
        std::string::npos);
  const std::string far =
      mat.variable(5, "M",
                   mat.numbers<std::int32_t>(5, {0, 2}) + mat.numbers<std::int32_t>(5, {0, 1, 1, 2}) +
                       mat.numbers<double>(9, {1, 2}));
  CHECK(read(mat.file(far)).error().text() == "a.mat:M: row index 1 is 2; expected 0 to 1");
  const std::string pointers =
      mat.variable(5, "M",
                   mat.numbers<std::int32_t>(5, {0, 1}) + mat.numbers<std::int32_t>(5, {0, 1, 2}) +
                       mat.numbers<double>(9, {1, 2}));
  CHECK(read(mat.file(pointers)).error().text() == "a.mat:M: 3 column pointers for 3 columns");
}
