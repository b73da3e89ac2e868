#include "formats/io/npz/npz.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "formats/io/npz/npy_header.hpp"
#include "formats/layout/csr.hpp"
#include "tests/formats/io/read_text.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;

namespace {

template <class T>
std::string bytes_of(const std::vector<T>& numbers) {
  std::string bytes(numbers.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

struct Member {
  std::string name, content;
};

template <class T>
Member array(const std::string& name, const std::string& descr, const std::vector<T>& numbers,
             std::vector<std::int64_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(numbers.size())};
  return {name + ".npy", npy_header(descr, shape) + bytes_of(numbers)};
}
Member format(const std::string& name) { return {"format.npy", npy_header("|S3", {}) + name}; }
Member shape(std::int64_t rows, std::int64_t cols) {
  return array<std::int64_t>("shape", "<i8", {rows, cols});
}

void pack(const std::string& path, const std::vector<Member>& members) {
  auto zip = ZipWriter::create(path, true);
  REQUIRE(zip);
  for (const Member& member : members) {
    REQUIRE(zip->add(member.name, static_cast<std::int64_t>(member.content.size())));
    REQUIRE(zip->write(member.content));
  }
  REQUIRE(zip->commit());
}

Result<ReadMatrix> read(const std::string& path, bool real_part = false) {
  auto zip = ZipReader::open(path);
  if (!zip) return tl::unexpected(zip.error());
  return read_npz(std::move(*zip), real_part);
}

Entries doubles(const ReadMatrix& matrix) {
  Csr csr = copy(matrix.csr.view());
  CHECK(check_csr(csr.view()));
  if (csr.values.present()) csr.values = convert_values(csr.values.view(), DType::f64);
  return entries_of(csr.view());
}

const std::vector<Member> kCsr = {format("csr"), shape(3, 4), array<double>("data", "<f8", {1, 2, 3, 4}),
                                  array<std::int32_t>("indices", "<i4", {3, 0, 1, 2}),
                                  array<std::int32_t>("indptr", "<i4", {0, 2, 2, 4})};
const Entries kEntries = {{{0, 0}, 2}, {{0, 3}, 1}, {{2, 1}, 3}, {{2, 2}, 4}};

}  // namespace

TEST_CASE("the four formats that SciPy saves are read as the same matrix") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.npz";
  pack(path, kCsr);
  auto a = read(path);
  REQUIRE(a);
  CHECK(a->csr.rows == 3);
  CHECK(a->csr.cols == 4);
  CHECK(doubles(*a) == kEntries);
  pack(path, {format("csc"), shape(3, 4), array<float>("data", "<f4", {2, 3, 4, 1}),
              array<std::int64_t>("indices", "<i8", {0, 2, 2, 0}),
              array<std::int64_t>("indptr", "<i8", {0, 1, 2, 3, 4}), array<char>("_is_array", "|b1", {1})});
  a = read(path);
  REQUIRE(a);
  CHECK(a->csr.values.dtype() == DType::f32);
  CHECK(doubles(*a) == kEntries);
  pack(path, {format("coo"), shape(3, 4), array<std::int16_t>("data", "<i2", {4, 1, 1, 2, 2}),
              array<std::int32_t>("row", "<i4", {2, 0, 2, 0, 2}),
              array<std::int32_t>("col", "<i4", {2, 3, 1, 0, 1})});
  a = read(path);
  REQUIRE(a);
  CHECK(a->duplicates == 1);
  CHECK(doubles(*a) == kEntries);
  pack(path, {format("bsr"), shape(2, 4), array<double>("data", "<f8", {1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2}),
              array<std::int32_t>("indices", "<i4", {1, 0}), array<std::int32_t>("indptr", "<i4", {0, 2})});
  a = read(path);
  REQUIRE(a);
  CHECK(doubles(*a) == Entries{{{0, 0}, 5},
                               {{0, 1}, 6},
                               {{0, 2}, 1},
                               {{0, 3}, 2},
                               {{1, 0}, 7},
                               {{1, 1}, 8},
                               {{1, 2}, 3},
                               {{1, 3}, 4}});
}

TEST_CASE("numbers of every type: swapped, complex, and bools that are a pattern") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.npz";
  const auto with_data = [&](const Member& data) {
    std::vector<Member> members = kCsr;
    members[2] = data;
    pack(path, members);
  };
  with_data({"data.npy", npy_header(">i2", {4}) + std::string("\0\1\0\2\0\3\0\4", 8)});
  CHECK(doubles(read(path).value()) == kEntries);
  with_data(array<std::uint16_t>("data", "<f2", {0x3c00, 0x4000, 0x4200, 0x4400}));
  CHECK(read(path)->csr.values.dtype() == DType::f16);
  CHECK(doubles(read(path).value()) == kEntries);
  with_data(array<float>("data", "<c8", {1, 9, 2, 9, 3, 9, 4, 9}, {4}));
  CHECK(doubles(read(path, true).value()) == kEntries);
  CHECK(read(path).error().code == Errc::unsupported);
  with_data(array<char>("data", "|b1", {1, 1, 1, 1}));
  CHECK(read(path)->csr.view().is_pattern());
  with_data(array<char>("data", "|b1", {1, 0, 1, 1}));
  CHECK(doubles(read(path).value())[{0, 0}] == 0);
}

TEST_CASE("repeated entries of a pattern are counted, those of 16 bits summed in f32") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.npz";
  std::vector<Member> members = {format("csr"), shape(1, 2), array<char>("data", "|b1", {1, 1, 1}),
                                 array<std::int32_t>("indices", "<i4", {1, 0, 1}),
                                 array<std::int32_t>("indptr", "<i4", {0, 3})};
  pack(path, members);
  CHECK(doubles(read(path).value()) == Entries{{{0, 0}, 1}, {{0, 1}, 2}});
  CHECK(read(path)->integers);
  members[2] = array<std::uint16_t>("data", "<f2", {0x6800, 0x3c00, 0x3c00});  // 2048, 1, 1
  pack(path, members);
  CHECK(read(path)->csr.values.dtype() == DType::f32);
  CHECK(doubles(read(path).value())[{0, 1}] == 2049);
}

TEST_CASE("integers that f64 cannot hold are counted") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.npz";
  std::vector<Member> members = kCsr;
  members[2] = array<std::int64_t>("data", "<i8", {1, (std::int64_t{1} << 53) + 1, 3, INT64_MAX});
  pack(path, members);
  CHECK(read(path)->loss.inexact == 2);
  CHECK(read(path)->integers);
  members[2] = array<std::uint64_t>("data", "<u8", {1, UINT64_MAX, 3, std::uint64_t{1} << 63});
  pack(path, members);
  CHECK(read(path)->loss.inexact == 1);
}

TEST_CASE("arrays of other names: graphs from one vertex to another, CSR and COO without a format") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.npz";
  const auto read_of = [&](const std::vector<Member>& members) {
    pack(path, members);
    auto a = read(path);
    if (!a) FAIL(a.error().text());
    CHECK(a->notes.size() == 1);
    return std::move(*a);
  };
  const Member from = array<std::int64_t>("src_li", "<i8", {0, 1, 0}),
               to = array<std::int64_t>("dst_li", "<i8", {2, 0, 2});
  const Entries edges = {{{0, 2}, 2}, {{1, 0}, 1}};
  ReadMatrix a = read_of({from, to, {"num_nodes.npy", npy_header("<i8", {}) + bytes_of<std::int64_t>({5})}});
  CHECK(doubles(a) == edges);
  CHECK(a.csr.rows == 5);
  CHECK(a.csr.cols == 5);
  a = read_of({from, to});
  CHECK(a.csr.rows == 3);
  CHECK(doubles(read_of({array<std::int32_t>("edge_index", "<i4", {0, 1, 0, 2, 0, 2}, {2, 3})})) == edges);
  CHECK(doubles(read_of({array<std::int32_t>("edge_index", "<i4", {0, 2, 1, 0, 0, 2}, {3, 2})})) == edges);
  CHECK(doubles(read_of({from, to, array<double>("edge_weight", "<f8", {1, 2, 3})})) ==
        Entries{{{0, 2}, 4}, {{1, 0}, 2}});
  CHECK(doubles(read_of({kCsr[1], kCsr[2], kCsr[3], kCsr[4]})) == kEntries);
  CHECK(doubles(read_of({shape(3, 4), array<double>("data", "<f8", {1, 2, 3, 4}),
                         array<std::int32_t>("row", "<i4", {0, 0, 2, 2}),
                         array<std::int32_t>("col", "<i4", {3, 0, 1, 2})})) == kEntries);
  const auto refused = [&](const std::vector<Member>& members) {
    pack(path, members);
    const auto b = read(path);
    REQUIRE(!b);
    return b.error().text().substr(path.size());
  };
  CHECK(refused({from, to, array<std::int64_t>("num_nodes", "<i8", {2})}) ==
        ":dst_li.npy: 2 at 0; expected 0 to 1");
  CHECK(refused({from, array<std::int64_t>("dst_li", "<i8", {2})}) == ":dst_li.npy: has 1 elements, not 3");
  CHECK(refused({from, to, array<double>("edge_weight", "<f8", {1})}) ==
        ":edge_weight.npy: has 1 elements for 3 edges");
  CHECK(refused({array<std::int32_t>("edge_index", "<i4", {0, 1, 2})}).find("two rows") != std::string::npos);
}

TEST_CASE("what is wrong is refused with its member, before memory is asked for") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.npz";
  const auto refused = [&](std::size_t which, const Member& member) {
    std::vector<Member> members = kCsr;
    members[which] = member;
    pack(path, members);
    const auto a = read(path);
    REQUIRE(!a);
    return a.error().text().substr(path.size());
  };
  CHECK(refused(0, format("dia")) ==
        ":format.npy: the matrix is in SciPy's format 'dia'; sptile reads csr, csc, coo and bsr: save "
        "A.tocsr()");
  CHECK(refused(2, array<char>("data", "|O", {'\x80', 4})) ==
        ":data.npy: contains pickled Python objects, which can run code when loaded; save numbers instead");
  CHECK(refused(3, array<std::int32_t>("indices", "<i4", {3, 0, 1, 4})) ==
        ":indices.npy: 4 at 3; expected 0 to 3");
  CHECK(refused(3, array<std::int32_t>("indices", "<i4", {3, -1, 1, 2})) ==
        ":indices.npy: -1 at 1; expected 0 to 3");
  CHECK(refused(4, array<std::int32_t>("indptr", "<i4", {0, 3, 2, 4})) ==
        ":indptr.npy: indptr[2] is 2; expected offsets from 0 to 4, the number of indices");
  CHECK(refused(4, array<std::int32_t>("indptr", "<i4", {0, 4})) == ":indptr.npy: has 2 elements, not 4");
  CHECK(refused(1, shape(std::int64_t{1} << 40, 4))
            .starts_with(":shape.npy: the matrix has 1099511627776 rows"));
  CHECK(refused(1, array<std::int64_t>("shape", "<i8", {4})) ==
        ":shape.npy: the array has 1 dimensions; a matrix has 2");
  CHECK(refused(2, array<double>("data", "<f8", {1}, {std::int64_t{1} << 50}))
            .starts_with(":data.npy: its header declares 1125899906842624 elements of 8 bytes, but 8 bytes"));
  CHECK(refused(2, array<double>("data", "<f8", {1}, {-4}))
            .starts_with(":data.npy: the header has an impossible shape"));
  CHECK(refused(2, array<double>("data", "<f9", {1, 2, 3, 4})).find("type '<f9'") != std::string::npos);
  CHECK(refused(2, {"data.npy", "PICKLE"}) ==
        ":data.npy: the member is too short; the archive may be truncated");
  CHECK(refused(2, {"other.npy", ""}).find("but no sparse matrix") != std::string::npos);
}

TEST_CASE("an archive that is cut off or changed anywhere is refused or read, never more") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.npz";
  pack(path, kCsr);
  std::ifstream in(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const std::size_t end_record =
      22;  // without its last bytes, which only say how long a comment is, nothing is lost
  for (std::size_t length = 0; length + end_record < whole.size(); length += 7) {
    auto zip = ZipReader::from_memory(std::string_view(whole).substr(0, length), "a.npz");
    CHECK(!(zip && read_npz(std::move(*zip), false)));
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x41);
    auto zip = ZipReader::from_memory(changed, "a.npz");
    if (!zip) continue;
    if (const auto a = read_npz(std::move(*zip), false)) CHECK(check_csr(a->csr.view()));
  }
}

TEST_CASE("what is written reads back identically, and is the same each time") {
  const TemporaryFolder folder;
  const auto text = [&](const std::string& name) {
    std::ifstream in(folder / name, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  for (const char* matrix : {"%%MatrixMarket matrix coordinate real general\n3 5 3\n1 5 0.1\n3 1 -2\n3 2 0\n",
                             "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 2\n",
                             "%%MatrixMarket matrix coordinate real general\n0 3 0\n"})
    for (const DType dtype : {DType::f16, DType::f32, DType::f64}) {
      const auto a = read_text(matrix, with_dtype(dtype));
      REQUIRE(a);
      REQUIRE(write_npz(a->csr.view(), folder / "a.npz", true));
      REQUIRE(write_npz(a->csr.view(), folder / "b.npz", true));
      CHECK(text("a.npz") == text("b.npz"));
      const auto back = read(folder / "a.npz");
      REQUIRE(back);
      CHECK(identical(back->csr.view(), a->csr.view()));
    }
}
