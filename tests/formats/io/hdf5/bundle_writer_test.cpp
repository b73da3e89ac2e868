#include "formats/io/hdf5/bundle_writer.hpp"

#include <doctest/doctest.h>
#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "formats/layout/csr.hpp"
#include "runtime/bundle/bundle.hpp"
#include "tests/bundle_sample.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;
namespace fs = std::filesystem;

namespace {

constexpr DType kNone = DType::none;

std::shared_ptr<const runtime::Bundle> opened(const std::string& path, bool copy = false) {
  auto bundle = runtime::Bundle::open(path, {.copy = copy});
  if (!bundle) FAIL(bundle.error().text());
  return *bundle;
}

void check_same_as_sample(const runtime::Bundle& bundle, const BundleSample& sample) {
  const CsrView csr = sample.csr();
  CHECK(bundle.rows() == 3);
  CHECK(bundle.cols() == 5);
  CHECK(bundle.nnz() == 5);
  CHECK(bundle.is_pattern() == csr.is_pattern());
  CHECK(bundle.dtype() == csr.values.dtype);
  CHECK(same(ArrayView(bundle.csr().row_ptr), ArrayView(csr.row_ptr)));
  CHECK(same(ArrayView(bundle.csr().col_idx), ArrayView(csr.col_idx)));
  CHECK(same(bundle.csr().values, csr.values));
  CHECK(same(ArrayView(bundle.row_order()), ArrayView(sample.row_order())));
  REQUIRE(bundle.format("bittcf") != nullptr);
  for (std::size_t i = 0; i < kBitTcfLayout.arrays.size(); ++i)
    CHECK(same(bundle.format("bittcf")->arrays[i], sample.bittcf().arrays[i]));
  for (const runtime::BundleArray& array : bundle.arrays()) CHECK(bundle.verify_checksum(array));
  for (const FormatView& view : bundle.formats()) CHECK(check(view));
}

}  // namespace

TEST_CASE("what is written is what is opened, for every type of values, mapped and copied") {
  const TemporaryFolder folder;
  const std::pair<DType, DType> kinds[] = {{DType::f32, DType::f32},
                                           {DType::f32, DType::f16},
                                           {DType::f32, DType::bf16},
                                           {DType::f64, DType::f64},
                                           {kNone, kNone}};
  int serial = 0;
  for (const auto& [csr_values, format_values] : kinds) {
    const std::string path = folder / ("kind" + std::to_string(serial++) + ".h5");
    const BundleSample sample(csr_values, format_values);
    const auto size = sample.write(path);
    REQUIRE_MESSAGE(size, size.error().text());
    CHECK(*size == fs::file_size(path));
    for (const bool copy : {false, true}) check_same_as_sample(*opened(path, copy), sample);
    CHECK(same(opened(path)->value_source("bittcf"),
               csr_values == kNone ? ArrayView() : sample.value_source()));
  }
}

TEST_CASE("matrices without entries, without rows and without columns go in and out") {
  const TemporaryFolder folder;
  const std::vector<std::int64_t> zeros(8, 0);
  for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {0, 4}, {4, 0}, {7, 9}}) {
    for (const DType values : {DType::f64, kNone}) {
      const std::string path = folder / ("empty" + std::to_string(rows) + std::to_string(cols) + ".h5");
      CsrView a{rows, cols, std::span(zeros).first(static_cast<std::size_t>(rows) + 1), {}, {}};
      if (values != kNone) a.values = ArrayView(values, nullptr, 0);
      auto writer = BundleWriter::create(path, {.force = true});
      REQUIRE(writer);
      REQUIRE(writer->add_csr(a));
      REQUIRE(writer->commit());
      const auto bundle = opened(path);
      CHECK(bundle->rows() == rows);
      CHECK(bundle->cols() == cols);
      CHECK(bundle->nnz() == 0);
      CHECK(bundle->dtype() == values);
      CHECK(bundle->csr().row_ptr.size() == static_cast<std::size_t>(rows) + 1);
      CHECK(bundle->row_order().empty());
      CHECK(bundle->formats().size() == 1);
      for (const runtime::BundleArray& array : bundle->arrays()) {
        CHECK((array.array.size == 0) == (array.array.data == nullptr));
        CHECK(bundle->verify_checksum(array));
      }
    }
  }
}

TEST_CASE("every size of the user block works, others are refused before anything is created") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  for (std::uint64_t block = 4096; block <= 1 << 20; block *= 2) {
    REQUIRE(BundleSample().write(path, {.force = true, .user_block = block}));
    check_same_as_sample(*opened(path), BundleSample());
    BundleHeader header{};
    const auto bytes = bytes_of(path);
    std::memcpy(&header, bytes.data(), sizeof header);
    CHECK(header.user_block == block);
    CHECK(header.file_size == bytes.size());
    CHECK(std::memcmp(bytes.data() + block, "\x89HDF\r\n\x1a\n", 8) == 0);
  }
  fs::remove(path);
  for (const std::uint64_t block : {0ull, 512ull, 2048ull, 5000ull, 12288ull, 2ull << 20, ~0ull}) {
    const auto size = BundleSample().write(path, {.user_block = block});
    REQUIRE(!size);
    CHECK(size.error().code == Errc::usage);
    CHECK(fs::is_empty(folder.path()));
  }
}

TEST_CASE("a table that outgrows its user block is refused with the size that would do") {
  const TemporaryFolder folder;
  const BundleSample sample;
  auto writer = BundleWriter::create(folder / "a.h5", {.user_block = 4096});  // 31 entries
  REQUIRE(writer);
  REQUIRE(writer->add_csr(sample.csr()));
  // A layout of many groups: the same arrays under other names.
  std::vector<std::string> groups;
  std::vector<FormatLayout> layouts;
  for (int i = 0; i < 6; ++i) groups.push_back("/formats/other" + std::to_string(i));
  for (const std::string& group : groups) {
    layouts.push_back(kBitTcfLayout);
    layouts.back().group = group;
  }
  Status s;
  for (std::size_t i = 0; i < layouts.size() && s; ++i) {
    FormatView view = sample.bittcf();
    view.layout = &layouts[i];
    s = writer->add_format(view, {});
  }
  REQUIRE(!s);
  CHECK(s.error().code == Errc::usage);
  CHECK(s.error().message.find("8192 would suffice") != std::string::npos);
}

TEST_CASE("the same input and options give the same bytes") {
  const TemporaryFolder folder;
  const BundleWriteOptions options{
      .attributes = {{"seed", std::int64_t{7}}, {"note", std::string("x")}, {"empty", std::string()}}};
  REQUIRE(BundleSample().write(folder / "a.h5", options));
  REQUIRE(BundleSample().write(folder / "b.h5", options));
  CHECK(bytes_of(folder / "a.h5") == bytes_of(folder / "b.h5"));
}

TEST_CASE("objects have no times, which would make the bytes of two runs differ") {
  const TemporaryFolder folder;
  REQUIRE(BundleSample().write(folder / "a.h5"));
  const hid_t file = ::H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  REQUIRE(file >= 0);
  int objects = 0;
  const auto visit = [](hid_t, const char* name, const H5O_info_t* info, void* count) -> herr_t {
    CAPTURE(name);
    CHECK(info->atime + info->mtime + info->ctime + info->btime == 0);
    ++*static_cast<int*>(count);
    return 0;
  };
  CHECK(::H5Ovisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &objects) == 0);
  CHECK(objects > 10);
  ::H5Fclose(file);
}

TEST_CASE("arrays are aligned, ascending, and the file is read-only") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  REQUIRE(BundleSample().write(path));
  struct stat facts {};
  REQUIRE(::stat(path.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777 & ~0444u) == 0);
  const auto bundle = opened(path);
  const void* before = nullptr;
  for (const runtime::BundleArray& array : bundle->arrays()) {
    CHECK(reinterpret_cast<std::uintptr_t>(array.array.data) % 4096 == 0);
    CHECK(array.array.data > before);
    before = array.array.data;
  }
}

TEST_CASE("an existing file is replaced only with force, and whoever mapped it keeps the old bytes") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  REQUIRE(BundleSample().write(path));
  const auto old = opened(path);
  const auto refused = BundleSample(kNone, kNone).write(path);
  REQUIRE(!refused);
  CHECK(refused.error().code == Errc::usage);
  REQUIRE(BundleSample(kNone, kNone).write(path, {.force = true}));
  check_same_as_sample(*old, BundleSample());
  check_same_as_sample(*opened(path), BundleSample(kNone, kNone));
}

TEST_CASE("a bundle that every reader would refuse is not written") {
  const TemporaryFolder folder;
  const BundleSample sample;
  {
    auto writer = BundleWriter::create(folder / "a.h5", {});
    REQUIRE(writer);
    CHECK(writer->add_csr(BundleSample(DType::f16).csr()).error().code == Errc::usage);
    REQUIRE(writer->add_csr(sample.csr()));
    CHECK(writer->add_row_order(sample.row_order().first(2)).error().code == Errc::usage);
    CHECK(writer->add_format(as_format(sample.csr()), {}).error().code == Errc::usage);
    CHECK(writer->add_format(BundleSample(kNone, kNone).bittcf(), {}).error().code == Errc::usage);
    FormatView wrong = sample.bittcf();
    wrong.rows = 4;
    CHECK(writer->add_format(wrong, {}).error().code == Errc::usage);
    FormatView short_array = sample.bittcf();
    short_array.arrays[1].size -= 1;
    CHECK(!writer->add_format(short_array, {}));
    CHECK(writer->add_format(sample.bittcf(), {}, sample.csr().values).error().code == Errc::usage);
  }  // dropped without commit
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a cancelled or dropped writer leaves nothing behind") {
  const TemporaryFolder folder;
  Progress progress;
  progress.cancelled = true;
  const auto size = BundleSample().write(folder / "a.h5", {.progress = &progress});
  REQUIRE(!size);
  CHECK(size.error().code == Errc::io);
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("progress counts the bytes of the arrays") {
  const TemporaryFolder folder;
  const BundleSample sample;
  Progress progress;
  auto writer = BundleWriter::create(folder / "a.h5", {.progress = &progress});
  REQUIRE(writer);
  REQUIRE(writer->add_csr(sample.csr()));
  CHECK(std::string(progress.phase) == "write");
  CHECK(progress.total == 24 + 4 * 8 + 5 * 4 + 5 * 4);
  CHECK(progress.done == progress.total);
  REQUIRE(writer->add_format(sample.bittcf(), {}, sample.value_source()));
  CHECK(progress.done == progress.total);
}

TEST_CASE("folders that are missing or taken as files give clear errors") {
  const TemporaryFolder folder;
  const auto missing = BundleSample().write(folder / "no/a.h5");
  REQUIRE(!missing);
  CHECK(missing.error().code == Errc::io);
  CHECK(missing.error().where == folder / "no/a.h5");
  fs::create_directory(folder / "sub");
  const auto taken = BundleSample().write(folder / "sub", {.force = true});
  REQUIRE(!taken);
  CHECK(taken.error().code == Errc::usage);
  CHECK(fs::is_empty(folder.path() / "sub"));
}
