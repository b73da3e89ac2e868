#include "runtime/bundle/bundle.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#include "formats/layout/bundle_layout.hpp"
#include "tests/bundle_image.hpp"
#include "tests/bundle_sample.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;
using runtime::Bundle;
namespace fs = std::filesystem;

namespace {

std::vector<std::byte> sample_bytes(const BundleSample& sample = BundleSample()) {
  const TemporaryFolder folder;
  REQUIRE(sample.write(folder / "a.h5", {.user_block = 4096}));
  return bytes_of(folder / "a.h5");
}

void put(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void check_same_content(const Bundle& a, const Bundle& b) {
  CHECK(a.rows() == b.rows());
  CHECK(a.cols() == b.cols());
  CHECK(a.nnz() == b.nnz());
  CHECK(a.is_pattern() == b.is_pattern());
  REQUIRE(a.arrays().size() == b.arrays().size());
  for (std::size_t i = 0; i < a.arrays().size(); ++i) {
    CHECK(a.arrays()[i].path == b.arrays()[i].path);
    CHECK(same(a.arrays()[i].array, b.arrays()[i].array));
  }
}

}  // namespace

TEST_CASE("every single changed byte of the header and the table is noticed") {
  const auto bytes = sample_bytes();
  Image image(bytes);
  const std::size_t end = sizeof(BundleHeader) + image.entries().size_bytes();
  for (std::size_t at = 0; at < end; ++at)
    for (const unsigned flip : {0x01u, 0x80u, 0xffu}) {
      image.bytes()[at] ^= std::byte(flip);
      const auto bundle = image.open();
      if (bundle) FAIL_CHECK("byte " << at << " changed by " << flip << " was not noticed");
      image.bytes()[at] ^= std::byte(flip);
    }
  CHECK(image.open());
}

TEST_CASE("every single changed byte of the superblock is noticed") {
  Image image(sample_bytes());
  for (std::size_t at = 0; at < kSuperblockBytes; ++at) {
    image.bytes()[image.header().user_block + at] ^= std::byte{1};
    check_refused(image.open(), Errc::bad_input, "rewritten by an HDF5 tool");
    image.bytes()[image.header().user_block + at] ^= std::byte{1};
  }
}

TEST_CASE("with the header sealed again, a changed byte is refused or safe to use") {
  const auto bytes = sample_bytes();
  const std::size_t end = sizeof(BundleHeader) + Image(bytes).entries().size_bytes();
  int accepted = 0;
  for (std::size_t at = 0; at < end; ++at)
    for (const unsigned flip : {0x01u, 0x80u, 0xffu}) {
      Image image(bytes);
      image.bytes()[at] ^= std::byte(flip);
      if (image.header().entries > 31) continue;  // there is no such table in the image to seal
      image.seal();
      const auto bundle = image.open();
      if (!bundle) continue;
      ++accepted;  // flags to ignore, data hashes, names of optional arrays
      for (const runtime::BundleArray& array : (*bundle)->arrays()) {
        const auto* data = static_cast<const std::byte*>(array.array.data);
        CHECK((array.array.size == 0 || (data >= image.bytes().data() + 4096 &&
                                         data + array.array.bytes() <= image.bytes().data() + bytes.size())));
        static_cast<void>((*bundle)->verify_checksum(array));
      }
      for (const FormatView& view : (*bundle)->formats()) static_cast<void>(check(view));
    }
  CHECK(accepted > 100);  // 8 bytes of hash in each of the 12 entries, at least
}

TEST_CASE("every broken field is refused with its own message") {
  struct Break {
    const char* what;
    std::function<void(Image&)> apply;
    Errc code;
    const char* message;
  };
  const std::string shape = kShapePath, columns = kCsrIndicesPath;
  const Break breaks[] = {
      {"version 2", [](Image& i) { i.header().version = 2; }, Errc::unsupported,
       "needs layout version 2; this sptile reads 1"},
      {"version 0", [](Image& i) { i.header().version = 0; }, Errc::bad_input, "version 0 is invalid"},
      {"user block 0", [](Image& i) { i.header().user_block = 0; }, Errc::bad_input, "user block of 0 bytes"},
      {"user block odd", [](Image& i) { i.header().user_block = 12288; }, Errc::bad_input, "power of two"},
      {"user block big", [](Image& i) { i.header().user_block = 2 << 20; }, Errc::bad_input, "1 MiB"},
      {"user block moved", [](Image& i) { i.header().user_block = 8192; }, Errc::bad_input, "superblock"},
      {"5000 entries", [](Image& i) { i.header().entries = 5000; }, Errc::bad_input, "at most 4096"},
      {"32 entries", [](Image& i) { i.header().entries = 32; }, Errc::bad_input,
       "does not fit the user block"},
      {"must know", [](Image& i) { i.header().must_know = 0x40; }, Errc::unsupported, "needs feature 0x40"},
      {"reserved", [](Image& i) { i.header().zero[3] = 1; }, Errc::bad_input, "reserved bytes 56 to 63"},
      {"file size", [](Image& i) { i.header().file_size += 5; }, Errc::bad_input, "truncated: size"},
      {"tiny size", [](Image& i) { i.header().file_size = 4100; }, Errc::bad_input, "leaves no space"},
      {"no end", [](Image& i) { std::fill_n(i.entry("/shape").path, 72, 'a'); }, Errc::bad_input,
       "array 0: path is not zero-terminated"},
      {"relative", [](Image& i) { i.entry("/shape").path[0] = 's'; }, Errc::bad_input, "must start with /"},
      {"control", [](Image& i) { i.entry("/shape").path[2] = '\n'; }, Errc::bad_input, "unprintable"},
      {"tail", [](Image& i) { i.entry("/shape").path[70] = 'x'; }, Errc::bad_input, "bytes after its end"},
      {"twice",
       [](Image& i) {
         i.entry("/row_order") = [&] {
           BundleEntry e = i.entry("/row_order");
           std::strncpy(e.path, "/csr/values", 72);
           return e;
         }();
       },
       Errc::bad_input, "/csr/values is listed twice"},
      {"dtype 0", [](Image& i) { i.entry("/shape").dtype = 0; }, Errc::bad_input,
       "/shape: dtype 0 is unknown"},
      {"dtype 10", [](Image& i) { i.entry("/shape").dtype = 10; }, Errc::bad_input, "dtype 10 is unknown"},
      {"rank 3", [](Image& i) { i.entry("/shape").rank = 3; }, Errc::bad_input, "rank 3, must be 1 or 2"},
      {"dims[1]", [](Image& i) { i.entry("/shape").dims[1] = 2; }, Errc::bad_input, "must be 1 for rank 1"},
      {"overflow",
       [](Image& i) {
         i.entry("/shape").rank = 2;
         i.entry("/shape").dims[0] = 1ull << 62;
         i.entry("/shape").dims[1] = 12;
       },
       Errc::bad_input, "overflow"},
      {"bytes", [](Image& i) { i.entry("/shape").bytes = 23; }, Errc::bad_input,
       "has 23 bytes, its dims and dtype need 24"},
      {"zero", [](Image& i) { i.entry("/shape").zero = 1; }, Errc::bad_input, "reserved bytes are not zero"},
      {"unaligned", [](Image& i) { i.entry("/shape").offset += 8; }, Errc::bad_input,
       "not a multiple of 4096"},
      {"in the user block", [](Image& i) { i.entry("/shape").offset = 0; }, Errc::bad_input, "overlaps"},
      {"on the superblock", [](Image& i) { i.entry("/shape").offset = 4096; }, Errc::bad_input, "overlaps"},
      {"past the end", [](Image& i) { i.entries().back().offset = 1ull << 40; }, Errc::bad_input,
       "past the end"},
      {"wraps around", [](Image& i) { i.entries().back().offset = ~0ull << 12; }, Errc::bad_input,
       "past the end"},
      {"overlap", [](Image& i) { i.entries()[1].offset = i.entries()[0].offset; }, Errc::bad_input,
       "overlaps"},
      {"unsorted", [](Image& i) { std::swap(i.entries()[1], i.entries()[2]); }, Errc::bad_input,
       "sorted by offset"},
      {"no shape", [](Image& i) { i.entry("/shape").path[1] = 'S'; }, Errc::bad_input, "/shape is missing"},
      {"shape type", [](Image& i) { i.entry("/shape").dtype = 5; }, Errc::bad_input, "/shape must be i64[3]"},
      {"no pointers", [](Image& i) { i.entry("/csr/pointers_to_1").path[1] = 'C'; }, Errc::bad_input,
       "/csr/pointers_to_1 is missing"},
      {"no values", [](Image& i) { i.entry("/csr/values").path[1] = 'C'; }, Errc::bad_input,
       "/csr/values is missing"},
      {"values type", [](Image& i) { i.entry("/csr/values").dtype = 2; }, Errc::bad_input,
       "/csr/values has type i32, expected f32"},
      {"columns type", [](Image& i) { i.entry("/csr/indices_1").dtype = 3; }, Errc::bad_input,
       "has type u32, expected i32"},
      {"columns length",
       [](Image& i) {
         i.entry("/csr/indices_1").dims[0] = 4;
         i.entry("/csr/indices_1").bytes = 16;
       },
       Errc::bad_input, "col_idx"},
      {"order length",
       [](Image& i) {
         i.entry("/row_order").dims[0] = 2;
         i.entry("/row_order").bytes = 8;
       },
       Errc::bad_input, "/row_order has 2 elements, expected 3"},
      {"order type", [](Image& i) { i.entry("/row_order").dtype = 3; }, Errc::bad_input,
       "/row_order has type u32"},
      {"format lacks", [](Image& i) { i.entry("/formats/bittcf/tc_offset").path[17] = 'T'; }, Errc::bad_input,
       "/formats/bittcf/tc_offset is missing"},
      {"format has more", [](Image& i) { i.entry("/formats/bittcf/value_source").path[27] = 'X'; },
       Errc::bad_input, "is not an array of bittcf"},
      {"format length",
       [](Image& i) {
         i.entry("/formats/bittcf/sparse_a_to_b").dims[0] = 7;
         i.entry("/formats/bittcf/sparse_a_to_b").bytes = 28;
       },
       Errc::bad_input, "bittcf"},
      {"source length",
       [](Image& i) {
         i.entry("/formats/bittcf/value_source").dims[0] = 4;
         i.entry("/formats/bittcf/value_source").bytes = 32;
       },
       Errc::bad_input, "value_source has 4 elements, expected 5"},
      {"source of csr",
       [](Image& i) { std::strncpy(i.entry("/formats/bittcf/value_source").path, "/csr/value_source", 72); },
       Errc::bad_input, "/csr/value_source is not an array of csr"},
      {"pattern flag", [](Image& i) { i.header().may_ignore |= kBundlePattern; }, Errc::bad_input,
       "/csr/values has 5 elements, expected 1"},
  };
  const auto bytes = sample_bytes();
  for (const Break& b : breaks) {
    CAPTURE(b.what);
    Image image(bytes);
    b.apply(image);
    if (image.header().entries <= 31) image.seal();
    check_refused(image.open(), b.code, b.message);
  }
}

TEST_CASE("values of a type that holds no values are refused when a bundle is opened") {
  for (const DTypeInfo& type : kDTypes) {
    if (type.is_value || type.dtype == DType::none) continue;
    CAPTURE(type.name);
    Image image(sample_bytes());
    BundleEntry& values = image.entry("/formats/bittcf/values");
    values.dtype = static_cast<std::uint32_t>(type.dtype);
    values.bytes = 5 * type.bytes;
    image.seal();
    check_refused(image.open(), Errc::bad_input,
                  "bittcf: values of " + std::string(type.name) + ", expected f16, bf16, f32 or f64");
  }
}

TEST_CASE("the one value of a pattern is 1") {
  const auto bytes = sample_bytes(BundleSample(DType::none, DType::none));
  for (const float value : {2.0F, 0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN()}) {
    Image image(bytes);
    CHECK(image.open());
    std::memcpy(image.bytes().data() + image.entry(kCsrValuesPath).offset, &value, sizeof value);
    check_refused(image.open(), Errc::bad_input, "a pattern, whose only value is 1");
  }
}

TEST_CASE("shapes that cannot be are refused") {
  const auto bytes = sample_bytes();
  for (const auto& [at, value] : {std::pair<int, std::int64_t>{0, -1},
                                  {1, -1},
                                  {2, -1},
                                  {0, std::int64_t{1} << 31},
                                  {1, std::int64_t{1} << 31},
                                  {0, 4},
                                  {2, 6},
                                  {2, std::int64_t{1} << 62}}) {
    Image image(bytes);
    std::memcpy(image.bytes().data() + image.entry("/shape").offset + 8 * static_cast<std::size_t>(at),
                &value, 8);
    CHECK(!image.open());
  }
}

TEST_CASE("a pattern bundle holds one iso value and no others") {
  Image image(sample_bytes(BundleSample(DType::none, DType::none)));
  REQUIRE(image.open());
  CHECK((*image.open())->csr().is_pattern());
  CHECK((*image.open())->value_source("bittcf").present() == false);
  image.header().may_ignore = 0;  // as a reader that does not know the flag sees it
  image.seal();
  check_refused(image.open(), Errc::bad_input, "/csr/values has 1 elements, expected 5");
}

TEST_CASE("newer writers stay readable: unknown formats and ignorable flags are no obstacle") {
  const auto bytes = sample_bytes();
  Image original(bytes), image(bytes);
  image.header().may_ignore = ~(kBundlePattern | kBundleSymmetric | kBundleNotSymmetric);
  for (BundleEntry& e : image.entries())
    if (const std::string path = e.path; path.starts_with("/formats/bittcf"))
      std::strncpy(e.path, ("/formats/newtcf" + path.substr(15)).c_str(), sizeof e.path);
  image.seal();
  const auto bundle = image.open();
  REQUIRE_MESSAGE(bundle, bundle.error().text());
  CHECK((*bundle)->formats().size() == 1);
  CHECK((*bundle)->format("newtcf") == nullptr);
  CHECK((*bundle)->arrays().size() == original.entries().size());
  image.entry("/formats/newtcf/values").offset += std::uint64_t{1} << 32;  // but their places are checked
  image.seal();
  CHECK(!image.open());
}

TEST_CASE("files that are something else are recognised") {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  const std::string padding(8192, ' ');
  const std::pair<std::string, const char*> files[] = {
      {"", "is empty"},
      {"x", "is not a sptile bundle"},
      {padding, "is not a sptile bundle"},
      {"\x89HDF\r\n\x1a\n" + padding, "is HDF5, but not a sptile bundle (no user block)"},
      {padding.substr(0, 1024) + "\x89HDF\r\n\x1a\n" + padding, "user block that is not sptile's"},
      {"%%MatrixMarket matrix coordinate real general\n1 1 0\n", "is Matrix Market text"},
      {"\x1f\x8b" + padding, "is gzip data"},
      {"\xd3sptl\n\x1a" + padding, "line ends"},
      {"\xd3sptl\r\n\x1a", "truncated in its header"},
      {"\xc3\x93sptl\r\n\x1a" + padding, "as if it were text"},
      {"Ssptl\r\n\x1a" + padding, "high bits were cleared"},
  };
  for (const auto& [content, message] : files) {
    std::ofstream(path, std::ios::binary) << content;
    check_refused(Bundle::open(path), Errc::bad_input, message);
  }
}

TEST_CASE("things that are not regular files are refused, without waiting for them") {
  const TemporaryFolder folder;
  check_refused(Bundle::open(folder / "missing.h5"), Errc::io, "No such file");
  check_refused(Bundle::open(folder.path().string()), Errc::bad_input, "is a directory");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  check_refused(Bundle::open(folder / "pipe"), Errc::bad_input, "is not a regular file");
  check_refused(Bundle::open("/dev/null"), Errc::bad_input, "is not a regular file");
}

TEST_CASE("a file cut or extended anywhere is refused") {
  const TemporaryFolder folder;
  const auto bytes = sample_bytes();
  const std::string path = folder / "a.h5";
  std::vector<std::size_t> lengths = {
      bytes.size() - 1, bytes.size() - 4096, 4096 + 48, 4096 + 47, 4096, 4095};
  for (std::size_t length = 0; length < 4096; length += 61) lengths.push_back(length);
  for (const std::size_t length : lengths) {
    put(path, std::span(bytes).first(length));
    CAPTURE(length);
    CHECK(!Bundle::open(path));
  }
  put(path, std::span(bytes).first(bytes.size() - 1));
  check_refused(Bundle::open(path), Errc::bad_input, "truncated: size ");
  auto longer = bytes;
  longer.push_back(std::byte{0});
  put(path, longer);
  check_refused(Bundle::open(path), Errc::bad_input, "data was appended: size ");
}

TEST_CASE("mapped, copied and in memory are the same; only the map follows later changes of the file") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  REQUIRE(BundleSample().write(path));
  const auto mapped = Bundle::open(path), copied = Bundle::open(path, {.copy = true});
  REQUIRE(mapped);
  REQUIRE(copied);
  Image image(bytes_of(path));
  check_same_content(**mapped, **copied);
  check_same_content(**mapped, **image.open());
  fs::permissions(path, fs::perms::owner_write, fs::perm_options::add);
  const auto offset = static_cast<std::streamoff>(image.entry("/csr/values").offset);
  std::fstream(path, std::ios::binary | std::ios::in | std::ios::out).seekp(offset).put('\x55');
  CHECK((*copied)->csr().values.as<float>()[0] == 1.0f);
  CHECK((*mapped)->csr().values.as<float>()[0] != 1.0f);
  int changed = 0;
  for (const runtime::BundleArray& array : (*mapped)->arrays()) {
    const Status s = (*mapped)->verify_checksum(array);
    if (s) continue;
    ++changed;
    CHECK(s.error().code == Errc::check_failed);
    CHECK(s.error().message.find("/csr/values: data changed") != std::string::npos);
  }
  CHECK(changed == 1);
}

TEST_CASE("a bundle in memory must be aligned") {
  Image image(sample_bytes());
  check_refused(Bundle::from_memory(image.bytes().subspan(8), "x"), Errc::usage, "multiple of 64");
}

TEST_CASE("arrays beyond 4 GiB open as quickly as others and read the right bytes") {
  const TemporaryFolder folder;
  const std::string path = folder / "sparse.h5";
  constexpr std::int64_t kEntries = std::int64_t{3} << 30;  // 12 GiB of column ids, 12 GiB of values
  const std::uint64_t first = std::uint64_t{1} << 33, second = first + (std::uint64_t{1} << 34);
  Image image(sample_bytes());
  const auto make = [](const char* name, DType dtype, std::int64_t size, std::uint64_t offset) {
    BundleEntry e{};
    std::strncpy(e.path, name, sizeof e.path - 1);
    e.dtype = static_cast<std::uint32_t>(dtype), e.rank = 1, e.offset = offset;
    e.dims[0] = static_cast<std::uint64_t>(size), e.dims[1] = 1, e.bytes = e.dims[0] * size_of(dtype);
    return e;
  };
  const std::int64_t shape[3] = {1, 2147483647, kEntries}, pointers[2] = {0, kEntries};
  const BundleEntry table[] = {
      make("/shape", DType::i64, 3, 8192), make("/csr/pointers_to_1", DType::i64, 2, 12288),
      make("/csr/indices_1", DType::i32, kEntries, first), make("/csr/values", DType::f32, kEntries, second)};
  image.header().entries = 4;
  image.header().file_size = second + table[3].bytes;
  std::copy(std::begin(table), std::end(table), image.entries().begin());
  image.seal();
  {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(image.bytes().data()), 4096 + 48);
    out.seekp(8192).write(reinterpret_cast<const char*>(shape), sizeof shape);
    out.seekp(12288).write(reinterpret_cast<const char*>(pointers), sizeof pointers);
    const float last = 42;
    out.seekp(static_cast<std::streamoff>(image.header().file_size - 4))
        .write(reinterpret_cast<const char*>(&last), 4);
    if (!out) return skip("a file system with room for a sparse file of 28 GiB");
  }
  const auto bundle = Bundle::open(path);
  REQUIRE_MESSAGE(bundle, bundle.error().text());
  CHECK((*bundle)->nnz() == kEntries);
  CHECK((*bundle)->csr().values.as<float>().back() == 42);
  CHECK((*bundle)->csr().col_idx.back() == 0);
}
