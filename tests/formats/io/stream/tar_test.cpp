#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "formats/io/matrix_market/matrix_market_reader.hpp"
#include "formats/io/stream/text_stream.hpp"
#include "tests/formats/io/gzip.hpp"

using namespace sptile;
using namespace sptile::formats;
using test::gzip;

namespace {

const std::string kMatrix = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 5\n";

void sign(std::string& header) {
  header.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  char digits[8];
  std::snprintf(digits, sizeof digits, "%06o", sum);
  header.replace(148, 7, digits, 7);
}

struct Header {
  std::string name;
  char type = '0';
  std::string prefix = {};
  std::string size = {};  // as stored; else that of the content
  std::string magic = std::string(
      "ustar\0"
      "00",
      8);
};

std::string entry(const Header& header, const std::string& content) {
  char digits[13];
  std::snprintf(digits, sizeof digits, "%011o", static_cast<unsigned>(content.size()));
  std::string block(512, '\0');
  block.replace(0, header.name.size(), header.name);
  const std::string size = header.size.empty() ? digits : header.size;
  block.replace(124, size.size(), size);
  block[156] = header.type;
  block.replace(257, header.magic.size(), header.magic);
  block.replace(345, header.prefix.size(), header.prefix);
  sign(block);
  return block + content + std::string((512 - content.size() % 512) % 512, '\0');
}

const std::string kEnd(1024, '\0');

struct Text {
  std::string text, name, error;
  Errc code = Errc::ok;
};

Text read(const std::string& stored, std::size_t step = 100) {
  Text result;
  const auto failed = [&](const Error& error) { result.error = error.text(), result.code = error.code; };
  auto stream = TextStream::open(InputBytes::from_memory(stored, "a.tar"));
  if (!stream) {
    failed(stream.error());
    return result;
  }
  result.name = stream->name();
  std::string room(step, '\0');
  for (;;) {
    const Result<std::int64_t> count = stream->read(room);
    if (!count) failed(count.error());
    if (!count || *count == 0) return result;
    result.text.append(room, 0, static_cast<std::size_t>(*count));
  }
}

std::string record(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  std::size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return std::to_string(length) + rest;
}

}  // namespace

TEST_CASE("the matrix is found among what comes with it, in any order and compression") {
  const std::string matrix = entry({"cant/cant.mtx"}, kMatrix), b = entry({"cant/cant_b.mtx"}, "other"),
                    folder = entry({"cant/", '5'}, ""), page = entry({"cant/README"}, "text");
  for (const std::string& archive :
       {folder + matrix + b + page + kEnd, b + page + matrix + kEnd, matrix + kEnd + std::string(10240, '\0'),
        page + entry({"./cant/cant.mtx"}, kMatrix) + kEnd, entry({"x.mtx"}, kMatrix) + page + kEnd,
        entry({"._x.mtx"}, "") + entry({"x.mtx", '\0', "", "", ""}, kMatrix) + std::string(512, '\0')})
    for (const std::string& stored : {archive, gzip(archive)})
      for (const std::size_t step : {1, 7, 512, 1 << 16}) {
        const Text text = read(stored, step);
        CHECK(text.error.empty());
        CHECK(text.text == kMatrix);
      }
  CHECK(read(matrix + kEnd).name == "a.tar:cant/cant.mtx");
}

TEST_CASE("long names: the prefix of ustar, records of pax, GNU's own") {
  const std::string folder(90, 'd'), base(80, 'n'), name = folder + "/" + base + ".mtx";
  const std::string gnu = std::string("ustar  \0", 8);
  for (const std::string& start :
       {entry({base + ".mtx", '0', folder}, kMatrix),
        entry({"pax", 'x'}, record("mtime", "1.5") + record("path", name)) + entry({"short"}, kMatrix),
        entry({"././@LongLink", 'L', "", "", gnu}, name + '\0') + entry({"short", '0', "", "", gnu}, kMatrix),
        entry({"global", 'g'}, record("comment", "x")) + entry({base + ".mtx", '0', folder}, kMatrix)}) {
    const Text text = read(start + kEnd);
    CHECK(text.name == "a.tar:" + name);
    CHECK(text.text == kMatrix);
    CHECK(text.error.empty());
  }
}

TEST_CASE("sizes: octal, of 256 values a byte, and of a record; those that do not fit are refused") {
  std::string wide(12, '\0');
  wide[0] = static_cast<char>(0x80);
  wide[11] = static_cast<char>(kMatrix.size());
  CHECK(read(entry({"x.mtx", '0', "", wide}, kMatrix) + kEnd).text == kMatrix);
  const std::string pax = entry({"pax", 'x'}, record("size", std::to_string(kMatrix.size())));
  CHECK(read(pax + entry({"x.mtx", '0', "", "00000000000"}, kMatrix) + kEnd).text == kMatrix);
  for (const std::string& size :
       {std::string("\x80\x01\0\0\0\0\0\0\0\0\0\0", 12), std::string(12, '\xff'), std::string("12345678901x"),
        std::string("-0000000001 "), std::string("\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", 12)}) {
    const Text text = read(entry({"x.mtx", '0', "", size}, kMatrix) + kEnd);
    CHECK(text.error == "a.tar: a header of the tar archive has an invalid size");
    CHECK(text.code == Errc::bad_input);
  }
  for (const char* size : {"99999999999999999999", "-1", "1x", ""})
    CHECK(read(entry({"pax", 'x'}, record("size", size)) + entry({"x.mtx"}, kMatrix) + kEnd).error ==
          "a.tar: a record of the tar archive has an invalid size");
  CHECK(read(entry({"x.mtx", '0', "", "77777777777"}, kMatrix) + kEnd).error ==
        "a.tar: the tar archive is truncated in 'x.mtx'; copy the file again");
  CHECK(read(entry({"page", '0', "", "77777777777"}, kMatrix) + kEnd).error ==
        "a.tar: the tar archive is truncated; copy it again (after 'page')");
}

TEST_CASE("archives without a matrix, with several, with links or holes say what to do") {
  CHECK(read(entry({"a/a_b.mtx"}, "") + entry({"b.txt"}, "") + entry({"c"}, "") + entry({"d"}, "") +
             entry({"e\n"}, "") + kEnd)
            .error ==
        "a.tar: a tar archive with 'a/a_b.mtx', 'b.txt', 'c', 'd', ..., but without a matrix NAME/NAME.mtx; "
        "unpack "
        "it with 'tar xf a.tar' and name the matrix file");
  CHECK(read(entry({"a/", '5'}, "") + kEnd).error ==
        "a.tar: a tar archive with no files, but without a matrix NAME/NAME.mtx; unpack it with 'tar xf "
        "a.tar' and "
        "name the matrix file");
  const Text several = read(entry({"a/a.mtx"}, kMatrix) + entry({"b/b.mtx"}, kMatrix) + kEnd);
  CHECK(several.text == kMatrix);
  CHECK(several.error ==
        "a.tar: the tar archive has several matrices: 'a/a.mtx', 'b/b.mtx'; unpack it with 'tar xf a.tar' "
        "and name the matrix file");
  for (const char type : {'1', '2'}) {
    const Text link = read(entry({"a/a.mtx", type}, "") + kEnd);
    CHECK(link.code == Errc::unsupported);
    CHECK(link.error ==
          "a.tar: 'a/a.mtx' in the tar archive is a link or a special file; unpack it with 'tar xf a.tar' "
          "and name the matrix file");
  }
  CHECK(read(entry({"a.mtx", 'S'}, kMatrix) + kEnd).code == Errc::unsupported);
  CHECK(read(entry({"p", 'x'}, record("GNU.sparse.major", "1")) + entry({"a.mtx"}, kMatrix) + kEnd).code ==
        Errc::unsupported);
}

TEST_CASE("damage anywhere in headers is noticed, and so is a cut anywhere") {
  const std::string whole =
      entry({"pax", 'x'}, record("path", "a/a.mtx")) + entry({"a"}, kMatrix) + entry({"b"}, "") + kEnd;
  for (std::size_t length = 512; length <= whole.size() - 1024; ++length) {
    const Text text = read(whole.substr(0, length));
    CHECK(text.code == Errc::bad_input);
    CHECK(kMatrix.starts_with(text.text));
  }
  for (const std::size_t block : {std::size_t{1024}, std::size_t{2048}})
    for (std::size_t at = 0; at < 512; ++at) {
      if (at == 155) continue;  // behind the zero that ends the checksum
      std::string changed = whole;
      changed[block + at] = static_cast<char>(changed[block + at] ^ 0x41);
      CHECK(read(changed).error.find("the checksum of a header of the tar archive is wrong") !=
            std::string::npos);
    }
  for (const char* records : {"9", "x", "5 a=b", "99 path=a\n", "0 path=a\n", "8 path=\n8 path=a", "2 "})
    CHECK(read(entry({"pax", 'x'}, records) + entry({"a.mtx"}, kMatrix) + kEnd).error ==
          "a.tar: a record of the tar archive is damaged; copy it again");
  CHECK(read(entry({"pax", 'x', "", "77777777777"}, "") + kEnd).error ==
        "a.tar: a name or a record of the tar archive has 8589934591 bytes");
}

TEST_CASE("a matrix is read out of an archive, errors name its line, and the hash is that of the archive") {
  const std::string archive = entry({"a/a.mtx"}, kMatrix) + entry({"b"}, "x") + kEnd;
  MtxReadOptions options;
  options.hash_source = true;
  for (const std::string& stored : {archive, gzip(archive)}) {
    const auto a = read_matrix_market(InputBytes::from_memory(stored, "a.tar"), options);
    REQUIRE(a);
    CHECK(a->csr.nnz() == 1);
    Sha256 hash;
    hash.update(stored.data(), stored.size());
    CHECK(a->source_sha256 == hash.finish());
  }
  const std::string wrong = entry({"a/a.mtx"}, kMatrix + "2 3 1\n") + kEnd;
  const auto a = read_matrix_market(InputBytes::from_memory(wrong, "a.tar"), options);
  REQUIRE(!a);
  CHECK(a.error().where == "a.tar:a/a.mtx:4");
}
