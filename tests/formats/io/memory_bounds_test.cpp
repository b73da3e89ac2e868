// Small files that become large arrays: readers compare what they allocate with the memory that is free.
#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "formats/io/binary/mat.hpp"
#include "formats/io/binary/raw_csr.hpp"
#include "formats/io/entries/growing_array.hpp"
#include "formats/io/files/available_memory.hpp"
#include "formats/io/graph/edge_list.hpp"
#include "formats/io/graph/metis_graph.hpp"
#include "formats/io/npz/npy_header.hpp"
#include "formats/io/npz/npz.hpp"
#include "formats/io/text/harwell_boeing.hpp"
#include "formats/io/text/smtx.hpp"
#include "formats/io/text/tns.hpp"
#include "tests/formats/io/gzip.hpp"
#include "tests/formats/io/read_text.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;

namespace {

constexpr std::int64_t kEntries = 1'500'000, kLimit = 8 << 20;

std::string repeat(std::string_view text, std::int64_t count = kEntries) {
  std::string all;
  all.reserve(text.size() * static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) all += text;
  return all;
}

std::string bytes_of(std::int64_t number, std::size_t width) {
  std::string bytes(width, '\0');
  std::memcpy(bytes.data(), &number, width);
  return bytes;
}

// "" where a matrix was read, else what was said. Arrays that grow throw.
std::string outcome(const std::function<Status()>& read) {
  try {
    const Status s = read();
    if (s) return {};
    CHECK(s.error().code == Errc::io);
    return s.error().message;
  } catch (const std::bad_alloc& error) {
    return out_of_memory(error);
  }
}

// The reader takes the file, but not where memory is short.
void check_bounded(const char* name, const std::function<Status()>& read) {
  CAPTURE(name);
  CHECK(outcome(read) == "");
  const MemoryLimit limit(kLimit);
  const std::string refused = outcome(read);
  CHECK_MESSAGE(refused.find("of memory, but only 8.0 MiB is available") != std::string::npos, refused);
}

template <class Read>
void check_text(const char* name, const std::string& text, const Read& read) {
  const std::string packed = test::gzip(text);
  CHECK(packed.size() < 64 << 10);
  check_bounded(name, [&] { return read(InputBytes::from_memory(packed, name)).map([](const auto&) {}); });
}

struct Npz {
  TemporaryFolder folder;
  std::string path = folder / "a.npz";
  ZipWriter zip = *ZipWriter::create(path, true);

  void add(const std::string& name, const std::string& descr, const std::vector<std::int64_t>& shape,
           const std::string& bytes) {
    const std::string header = npy_header(descr, shape);
    REQUIRE(zip.add(name + ".npy", static_cast<std::int64_t>(header.size() + bytes.size())));
    REQUIRE(zip.write(header));
    REQUIRE(zip.write(bytes));
  }
  void add_shape(std::int64_t rows, std::int64_t cols) {
    add("shape", "<i8", {2}, bytes_of(rows, 8) + bytes_of(cols, 8));
  }
  [[nodiscard]] Result<ReadMatrix> read() const { return read_npz(*ZipReader::open(path), false); }
};

}  // namespace

TEST_CASE("lines of text that are many entries are compared with the free memory") {
  check_text("a.edges", repeat("0 1\n"), [](auto in) { return read_edge_list(std::move(in), {}); });
  check_text("weighted.edges", repeat("0 1 2\n"),
             [](auto in) { return read_edge_list(std::move(in), {.columns = "source,target,weight"}); });
  check_text("a.tns", repeat("1 1 1\n"), [](auto in) { return read_tns(std::move(in)); });
  check_text("a.smtx", "1, 2, 1500000\n0 1500000\n" + repeat("0 "),
             [](auto in) { return read_smtx(std::move(in)); });
  check_text("a.rua",
             "title\n3 1 1 0\nPUA 1 1 1500000 0\n(2I8)           (80I1)\n       1 1500001\n" +
                 repeat(std::string(80, '1') + "\n", kEntries / 80),
             [](auto in) { return read_harwell_boeing(std::move(in), false); });
  check_text("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1500000\n" + repeat("2 1\n"),
             [](auto in) { return read_matrix_market(std::move(in), {}); });
}

TEST_CASE("vertices of a METIS graph without neighbours are compared with the free memory") {
  check_text("a.graph", "1500000 0\n" + repeat("\n"),
             [](auto in) { return read_metis_graph(std::move(in)); });
}

TEST_CASE("numbers of one byte that become numbers of eight are compared with the free memory") {
  for (const char* const descr : {"|i1", "|b1"}) {
    Npz npz;
    npz.add("format", "|S3", {}, "coo");
    npz.add_shape(1, kEntries);
    npz.add("data", descr, {kEntries}, std::string(kEntries, '\2'));
    npz.add("row", "|i1", {kEntries}, std::string(kEntries, '\0'));
    npz.add("col", "|i1", {kEntries}, std::string(kEntries, '\0'));
    REQUIRE(npz.zip.commit());
    check_bounded(descr, [&] { return npz.read().map([](const auto&) {}); });
  }
}

TEST_CASE("the blocks of an archive are compared with the free memory") {
  Npz npz;
  npz.add("format", "|S3", {}, "bsr");
  npz.add_shape(1, kEntries);
  npz.add("data", "<f2", {1, 1, kEntries}, std::string(2 * kEntries, '\0'));
  npz.add("indices", "|i1", {1}, std::string(1, '\0'));
  npz.add("indptr", "|i1", {2}, std::string("\0\1", 2));
  REQUIRE(npz.zip.commit());
  check_bounded("bsr", [&] { return npz.read().map([](const auto&) {}); });
}

TEST_CASE("a shape of many dimensions is refused before it is read") {
  Npz npz;
  npz.add("format", "|S3", {}, "coo");
  npz.add("shape", "|i1", {kEntries}, std::string(kEntries, '\1'));
  npz.add("data", "|i1", {0}, "");
  REQUIRE(npz.zip.commit());
  const MemoryLimit limit(kLimit);
  const auto refused = npz.read();
  REQUIRE(!refused);
  CHECK(refused.error().code == Errc::unsupported);
  CHECK(refused.error().message == "the array has 1500000 dimensions; a matrix has 2");
}

TEST_CASE("deflated arrays of a MAT-file are compared with the free memory") {
  const auto element = [](std::int64_t type, std::string data) {
    const std::string tag = bytes_of(type, 4) + bytes_of(static_cast<std::int64_t>(data.size()), 4);
    data.resize((data.size() + 7) / 8 * 8, '\0');
    return tag + data;
  };
  const std::string pointers = bytes_of(0, 4) + bytes_of(kEntries, 4);
  const std::string variable =
      element(14, element(6, bytes_of(5, 8)) + element(5, bytes_of(1, 4) + bytes_of(1, 4)) + element(1, "A") +
                      element(1, std::string(kEntries, '\0')) + element(5, pointers) +
                      element(2, std::string(kEntries, '\1')));
  std::string packed(::compressBound(variable.size()), '\0');
  uLongf size = packed.size();
  REQUIRE(::compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                     reinterpret_cast<const Bytef*>(variable.data()), variable.size()) == Z_OK);
  std::string file = "MATLAB 5.0 MAT-file";
  file.resize(124, ' ');
  file += std::string("\0\1IM", 4) + bytes_of(15, 4) + bytes_of(static_cast<std::int64_t>(size), 4) +
          packed.substr(0, size);
  CHECK(file.size() < 64 << 10);
  check_bounded("a.mat", [&] {
    return read_mat(InputBytes::from_memory(file, "a.mat"), false).map([](const auto&) {});
  });
}

TEST_CASE("row pointers of 4 bytes that become those of 8 are compared with the free memory") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.csr";
  std::ofstream(path, std::ios::binary) << kRawCsrMagic << bytes_of(kEntries, 4) << bytes_of(1, 4)
                                        << bytes_of(0, 8) << std::string(4 * (kEntries + 1), '\0');
  check_bounded("a.csr", [&] { return read_raw_csr(path).map([](const auto&) {}); });
}

TEST_CASE("an array that grows gives back what it was given") {
  GrowingArray<std::int64_t> array;
  CHECK(std::move(array).take().empty());
  for (const std::int64_t size : {1, 65535, 65536, 65537, 200000}) {
    for (std::int64_t i = 0; i < size; ++i) array.push_back(3 * i);
    CHECK(array.size() == size);
    CHECK(array[size - 1] == 3 * (size - 1));
    array.pop_front();
    const auto all = std::move(array).take();
    REQUIRE(all.size() == size - 1);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < all.size(); ++i) wrong += all[i] != 3 * (i + 1);
    CHECK(wrong == 0);
    CHECK(array.empty());
  }
}

TEST_CASE("the control group of the process limits the memory, and those above it do") {
  const TemporaryFolder folder;
  const std::filesystem::path root(folder / "root");
  const auto write = [&](const char* path, const std::string& text) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  };
  CHECK(available_memory(root.string()) == std::numeric_limits<std::int64_t>::max());
  write("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable: 6000 kB\n");
  CHECK(available_memory(root.string()) == 6000 << 10);
  write("proc/self/cgroup", "1:cpu:/\n0::/box/inner\n");
  write("sys/fs/cgroup/box/inner/memory.max", "max\n");
  write("sys/fs/cgroup/box/inner/memory.current", "1000\n");
  CHECK(available_memory(root.string()) == 6000 << 10);
  write("sys/fs/cgroup/box/memory.max", "5000\n");
  write("sys/fs/cgroup/box/memory.current", "2000\n");
  CHECK(available_memory(root.string()) == 3000);
  write("sys/fs/cgroup/box/inner/memory.max", "1500\n");
  CHECK(available_memory(root.string()) == 500);
  write("sys/fs/cgroup/box/inner/memory.stat", "anon 10\nactive_file 100\ninactive_file 200\n");
  CHECK(available_memory(root.string()) == 800);
  write("sys/fs/cgroup/memory.max", "100\n");  // of a container that sees its own group as the root
  write("sys/fs/cgroup/memory.current", "300\n");
  CHECK(available_memory(root.string()) == 0);
}

TEST_CASE("control groups of version 1 limit the memory") {
  const TemporaryFolder folder;
  const std::filesystem::path root(folder / "root"), group = root / "sys/fs/cgroup/memory/box";
  std::filesystem::create_directories(root / "proc/self");
  std::filesystem::create_directories(group);
  std::ofstream(root / "proc/self/cgroup") << "4:memory:/box\n3:cpu:/else\n0::/none\n";
  std::ofstream(group / "memory.limit_in_bytes") << "5000\n";
  std::ofstream(group / "memory.usage_in_bytes") << "4000\n";
  std::ofstream(group / "memory.stat") << "inactive_file 9\ntotal_inactive_file 600\ntotal_active_file 0\n";
  CHECK(available_memory(root.string()) == 1600);
}
