// libsptile-tools through its C interface, beside libsptile in one process: matrices, bundles, orders,
// cancelled work, hostile arguments.
#include "sptile_tools.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/source_root.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;

namespace {

std::string example(const char* name) { return (source_root() / "data" / "examples" / name).string(); }

bool says(const char* part) { return std::string(sptile_tools_last_error()).find(part) != std::string::npos; }

// Arrays of a caller, all of one kind of ids.
template <class Id>
struct Given {
  std::int64_t rows, cols;
  std::vector<Id> row, col;
  std::vector<double> values;

  [[nodiscard]] sptile_arrays arrays() const {
    sptile_arrays a = SPTILE_ARRAYS_INIT;
    a.rows = rows, a.cols = cols, a.nnz = static_cast<std::int64_t>(col.size());
    a.row = row.data(), a.col = col.data(), a.values = values.data();
    a.value_dtype = SPTILE_DTYPE_F64;
    a.row_dtype = a.col_dtype = sizeof(Id) == 4 ? SPTILE_DTYPE_I32 : SPTILE_DTYPE_I64;
    return a;
  }
};

template <class Id = std::int32_t>
Given<Id> small() {
  return {3, 4, {0, 2, 2, 4}, {0, 3, 1, 2}, {1, 2, 3, 4}};
}

sptile_tools_matrix* copy(const sptile_arrays& arrays, const sptile_tools_options* options = nullptr) {
  sptile_tools_matrix* matrix = nullptr;
  REQUIRE_MESSAGE(sptile_tools_copy(&arrays, options, &matrix) == SPTILE_STATUS_OK,
                  std::string(sptile_tools_last_error()));
  return matrix;
}

sptile_tools_matrix* read(const std::string& path) {
  sptile_tools_matrix* matrix = nullptr;
  REQUIRE_MESSAGE(sptile_tools_read(path.c_str(), nullptr, &matrix) == SPTILE_STATUS_OK,
                  std::string(sptile_tools_last_error()));
  return matrix;
}

sptile_arrays arrays_of(const sptile_tools_matrix* matrix) {
  sptile_arrays a = SPTILE_ARRAYS_INIT;
  REQUIRE(sptile_tools_arrays(matrix, &a) == SPTILE_STATUS_OK);
  return a;
}

// What it is called with, without memory of its own behind it.
sptile_status refused(sptile_arrays arrays) {
  sptile_tools_matrix* matrix = nullptr;
  const sptile_status status = sptile_tools_copy(&arrays, nullptr, &matrix);
  CHECK(matrix == nullptr);
  return status;
}

Given<std::int32_t> large(std::int32_t rows) {
  Given<std::int32_t> a{rows, rows, {0}, {}, {}};
  std::mt19937 random(7);
  for (std::int32_t r = 0; r < rows; ++r) {
    for (std::int32_t c = static_cast<std::int32_t>(random() % 97); c < rows; c += rows / 16)
      a.col.push_back(c);
    a.row.push_back(static_cast<std::int32_t>(a.col.size()));
  }
  a.values.assign(a.col.size(), 1.5);
  return a;
}

std::size_t files_in(const TemporaryFolder& folder) {
  const std::filesystem::directory_iterator entries(folder.path());
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

}  // namespace

TEST_CASE("a file is read, and arrays are copied, to the same matrix") {
  sptile_tools_matrix* const from_file = read(example("fem_plate.mtx"));
  const sptile_arrays a = arrays_of(from_file);
  CHECK(a.value_dtype == SPTILE_DTYPE_F64);
  sptile_tools_matrix* const from_arrays = copy(a);
  const sptile_arrays b = arrays_of(from_arrays);
  REQUIRE((a.rows == b.rows && a.cols == b.cols && a.nnz == b.nnz && a.nnz > 0));
  const auto same = [](const auto* x, const auto* y, std::int64_t n) { return std::equal(x, x + n, y); };
  CHECK(same(static_cast<const std::int64_t*>(a.row), static_cast<const std::int64_t*>(b.row), a.rows + 1));
  CHECK(same(static_cast<const std::int32_t*>(a.col), static_cast<const std::int32_t*>(b.col), a.nnz));
  CHECK(same(static_cast<const double*>(a.values), static_cast<const double*>(b.values), a.nnz));
  sptile_tools_matrix_destroy(from_file);
  sptile_tools_matrix_destroy(from_arrays);
}

TEST_CASE("options say how a file is read, notes what was guessed") {
  const TemporaryFolder folder;
  const std::string path = folder / "graph.data";
  std::ofstream(path) << "5;1;2\n7;2;3\n5;1;2\n";
  const auto read_as = [&](const sptile_tools_options& options) {
    sptile_tools_matrix* matrix = nullptr;
    const sptile_status status = sptile_tools_read(path.c_str(), &options, &matrix);
    CHECK((status == SPTILE_STATUS_OK) == (matrix != nullptr));
    return matrix;
  };
  sptile_tools_options options = SPTILE_TOOLS_OPTIONS_INIT;
  options.columns = "weight,source,target";
  sptile_tools_matrix* const guessed = read_as(options);
  REQUIRE(guessed != nullptr);
  CHECK(arrays_of(guessed).rows == 3);
  std::int32_t is_warning = -1;
  CHECK(std::string(sptile_tools_note(guessed, 0, &is_warning)).find("vertices from 1") != std::string::npos);
  CHECK(is_warning == 0);
  CHECK(std::string(sptile_tools_note(guessed, 1, nullptr)).ends_with("summed 1 duplicate entries"));
  for (const std::int64_t number : {-1, 2}) CHECK(sptile_tools_note(guessed, number, nullptr) == nullptr);
  CHECK(sptile_tools_note(nullptr, 0, nullptr) == nullptr);
  sptile_tools_matrix_destroy(guessed);

  options.base = SPTILE_BASE_0;
  options.separator = ';';
  options.kind = "edges";
  sptile_tools_matrix* const told = read_as(options);
  REQUIRE(told != nullptr);
  CHECK(arrays_of(told).rows == 4);
  CHECK(sptile_tools_note(told, 1, nullptr) == nullptr);
  sptile_tools_matrix_destroy(told);

  options.kind = "graphs";
  CHECK(read_as(options) == nullptr);
  options.kind = nullptr;
  for (const std::int32_t separator : {-1, 120, 256 + 32}) {
    options.separator = separator;
    CHECK(read_as(options) == nullptr);
  }
  options.separator = 0;
  for (const std::int32_t base : {-1, 3}) {
    options.base = base;
    CHECK(read_as(options) == nullptr);
  }
}

TEST_CASE("a bundle, in a file and in memory, has the same bytes, and libsptile opens both") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  sptile_tools_matrix* const matrix = read(example("fem_plate.mtx"));
  sptile_tools_options options = SPTILE_TOOLS_OPTIONS_INIT;
  options.method = "pack";
  options.preset = "fast";
  options.settings = "swap-passes=1";
  options.transpose = SPTILE_TRANSPOSE_IF_SYMMETRIC;
  options.refreshable = 1;
  sptile_tools_report report{};
  report.size = sizeof report;
  REQUIRE_MESSAGE(sptile_tools_convert(matrix, path.c_str(), -1, &options, &report) == SPTILE_STATUS_OK,
                  std::string(sptile_tools_last_error()));
  CHECK(report.rows == arrays_of(matrix).rows);
  CHECK(report.symmetric == 1);
  CHECK(report.reordered == 1);
  CHECK(report.file_bytes == std::filesystem::file_size(path));
  const int fd = ::memfd_create("bundle", MFD_CLOEXEC);
  REQUIRE(fd >= 0);
  REQUIRE_MESSAGE(sptile_tools_convert(matrix, nullptr, fd, &options, nullptr) == SPTILE_STATUS_OK,
                  std::string(sptile_tools_last_error()));
  const std::string in_memory = "/proc/self/fd/" + std::to_string(fd);
  std::ifstream one(path, std::ios::binary), other(in_memory, std::ios::binary);
  CHECK(std::equal(std::istreambuf_iterator<char>(one), {}, std::istreambuf_iterator<char>(other),
                   std::istreambuf_iterator<char>()));
  for (const std::string& name : {path, in_memory}) {
    sptile_matrix* opened = nullptr;
    REQUIRE(sptile_matrix_open(name.c_str(), nullptr, &opened) == SPTILE_STATUS_OK);
    sptile_matrix_info info{};
    info.size = sizeof info;
    REQUIRE(sptile_matrix_describe(opened, &info) == SPTILE_STATUS_OK);
    CHECK(info.nnz == report.nnz);
    CHECK(info.transposed > 0);
    sptile_matrix_destroy(opened);
  }
  // It is written once: the file is not empty any more.
  CHECK(sptile_tools_convert(matrix, nullptr, fd, &options, nullptr) == SPTILE_STATUS_USAGE);
  CHECK(says("not an empty file"));
  ::close(fd);
  CHECK(sptile_tools_convert(matrix, nullptr, fd, &options, nullptr) == SPTILE_STATUS_IO);
  CHECK(sptile_tools_convert(matrix, path.c_str(), -1, &options, nullptr) == SPTILE_STATUS_USAGE);
  CHECK(says("overwrite"));
  options.overwrite = 1;
  CHECK(sptile_tools_convert(matrix, path.c_str(), -1, &options, nullptr) == SPTILE_STATUS_OK);
  CHECK(files_in(folder) == 1);
  sptile_tools_matrix_destroy(matrix);
}

TEST_CASE("ids of 64 bits, disorder and repeated places") {
  const Given<std::int64_t> wide = small<std::int64_t>();
  sptile_tools_matrix_destroy(copy(wide.arrays()));
  Given<std::int32_t> mixed = small();
  mixed.col = {3, 0, 2, 2};
  sptile_arrays a = mixed.arrays();
  CHECK(refused(a) == SPTILE_STATUS_BAD_INPUT);
  a.disorder = SPTILE_DISORDER_SORT;
  CHECK(refused(a) == SPTILE_STATUS_BAD_INPUT);
  CHECK(says("SPTILE_DISORDER_SUM"));
  a.disorder = SPTILE_DISORDER_SUM;
  sptile_tools_matrix* const matrix = copy(a);
  const sptile_arrays sorted = arrays_of(matrix);
  REQUIRE(sorted.nnz == 3);
  const auto* const values = static_cast<const double*>(sorted.values);
  CHECK(std::vector<double>(values, values + 3) == std::vector<double>{2, 1, 7});
  sptile_tools_matrix_destroy(matrix);
}

TEST_CASE("values become the type that is asked for; those too large are counted or refused") {
  Given<std::int32_t> a = small();
  a.values = {1e300, 2, 1e6, 4};
  sptile_tools_options options = SPTILE_TOOLS_OPTIONS_INIT;
  options.dtype = SPTILE_DTYPE_F16;
  sptile_tools_matrix* const matrix = copy(a.arrays());
  const TemporaryFolder folder;
  sptile_tools_report report{};
  report.size = sizeof report;
  CHECK(sptile_tools_convert(matrix, (folder / "a.h5").c_str(), -1, &options, &report) == SPTILE_STATUS_OK);
  CHECK(report.overflowed == 2);
  options.strict = 1;
  CHECK(sptile_tools_convert(matrix, (folder / "b.h5").c_str(), -1, &options, &report) ==
        SPTILE_STATUS_BAD_INPUT);
  CHECK(files_in(folder) == 1);
  sptile_tools_matrix_destroy(matrix);
  options = SPTILE_TOOLS_OPTIONS_INIT;
  options.dtype = SPTILE_DTYPE_F32;
  sptile_tools_matrix* const narrow = copy(a.arrays(), &options);
  CHECK(arrays_of(narrow).value_dtype == SPTILE_DTYPE_F32);
  sptile_tools_matrix_destroy(narrow);
}

TEST_CASE("an order is a permutation, the same for the same seed, and measured") {
  sptile_tools_matrix* const matrix = read(example("fem_plate.mtx"));
  const auto rows = static_cast<std::size_t>(arrays_of(matrix).rows);
  std::vector<std::int32_t> first(rows), second(rows), sorted;
  sptile_tools_options options = SPTILE_TOOLS_OPTIONS_INIT;
  options.method = "random";
  options.seed = 5;
  sptile_tools_quality before{}, after{};
  before.size = after.size = sizeof before;
  REQUIRE(sptile_tools_reorder(matrix, &options, first.data(), &before, &after) == SPTILE_STATUS_OK);
  REQUIRE(sptile_tools_reorder(matrix, &options, second.data(), nullptr, nullptr) == SPTILE_STATUS_OK);
  CHECK(first == second);
  sorted = first;
  std::ranges::sort(sorted);
  std::vector<std::int32_t> all(rows);
  std::iota(all.begin(), all.end(), 0);
  CHECK(sorted == all);
  CHECK(after.windows[0].window_rows == 8);
  CHECK(after.windows[0].distinct_columns > before.windows[0].distinct_columns);
  CHECK(after.bandwidth > before.bandwidth);
  options.method = "identity";
  REQUIRE(sptile_tools_reorder(matrix, &options, second.data(), nullptr, nullptr) == SPTILE_STATUS_OK);
  CHECK(second == all);
  sptile_tools_matrix_destroy(matrix);
}

TEST_CASE("whoever is told how far the work is may cancel it, and no file stays") {
  const Given<std::int32_t> a = large(150000);
  sptile_tools_matrix* const matrix = copy(a.arrays());
  const TemporaryFolder folder;
  sptile_tools_options options = SPTILE_TOOLS_OPTIONS_INIT;
  options.method = "pack";
  int calls = 0;
  options.user = &calls;
  options.progress = [](void* user, const char* phase, std::int64_t, std::int64_t) {
    return ++*static_cast<int*>(user) > 2 && phase != nullptr ? 1 : 0;
  };
  CHECK(sptile_tools_convert(matrix, (folder / "a.h5").c_str(), -1, &options, nullptr) == SPTILE_STATUS_IO);
  CHECK(says("cancelled"));
  CHECK(calls > 2);
  CHECK(files_in(folder) == 0);
  std::vector<std::int32_t> order(static_cast<std::size_t>(a.rows), -1);
  CHECK(sptile_tools_reorder(matrix, &options, order.data(), nullptr, nullptr) == SPTILE_STATUS_IO);
  CHECK(std::ranges::all_of(order, [](std::int32_t row) { return row == -1; }));
  sptile_tools_matrix_destroy(matrix);
}

TEST_CASE("several threads convert at a time") {
  const TemporaryFolder folder;
  sptile_tools_matrix* const matrix = read(example("fem_plate.mtx"));
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      const std::string path = folder / std::to_string(i).append(".h5");
      if (sptile_tools_convert(matrix, path.c_str(), -1, nullptr, nullptr) == SPTILE_STATUS_OK) ++done;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(done == 4);
  CHECK(files_in(folder) == 4);
  sptile_tools_matrix_destroy(matrix);
}

TEST_CASE("arrays that break the format are refused with the place") {
  const auto with = [](auto change) {
    Given<std::int32_t> a = small();
    change(a);
    return refused(a.arrays());
  };
  CHECK(with([](auto& a) { a.row[0] = 1; }) == SPTILE_STATUS_BAD_INPUT);
  CHECK(says("row_ptr[0] is 1"));
  CHECK(with([](auto& a) { a.row[1] = 1 << 30; }) == SPTILE_STATUS_BAD_INPUT);
  CHECK(says("row_ptr[1]"));
  CHECK(with([](auto& a) { a.row[1] = -5; }) == SPTILE_STATUS_BAD_INPUT);
  CHECK(with([](auto& a) { a.row[2] = 1; }) == SPTILE_STATUS_BAD_INPUT);
  CHECK(with([](auto& a) { a.row[3] = 3; }) == SPTILE_STATUS_BAD_INPUT);
  CHECK(says("number of entries, 4"));
  CHECK(with([](auto& a) { a.col[2] = 4; }) == SPTILE_STATUS_BAD_INPUT);
  CHECK(says("col_idx[2] is 4"));
  CHECK(with([](auto& a) { a.col[2] = -1; }) == SPTILE_STATUS_BAD_INPUT);
}

TEST_CASE("calls that make no sense are refused, and say what would be right") {
  const Given<std::int32_t> a = small();
  const auto with = [&](auto change) {
    sptile_arrays arrays = a.arrays();
    change(arrays);
    return refused(arrays);
  };
  CHECK(with([](auto& x) { x.size = 3; }) == SPTILE_STATUS_USAGE);
  CHECK(with([](auto& x) { x.rows = -1; }) == SPTILE_STATUS_USAGE);
  CHECK(with([](auto& x) { x.rows = std::int64_t{1} << 40; }) == SPTILE_STATUS_UNSUPPORTED);
  CHECK(with([](auto& x) { x.nnz = -1; }) == SPTILE_STATUS_USAGE);
  CHECK(with([](auto& x) { x.row = nullptr; }) == SPTILE_STATUS_USAGE);
  CHECK(with([](auto& x) { x.col = nullptr; }) == SPTILE_STATUS_USAGE);
  CHECK(with([](auto& x) { x.values = nullptr; }) == SPTILE_STATUS_USAGE);
  CHECK(with([](auto& x) { x.value_dtype = 99; }) == SPTILE_STATUS_USAGE);
  CHECK(with([](auto& x) { x.layout = SPTILE_LAYOUT_COO; }) == SPTILE_STATUS_USAGE);
  CHECK(with([](auto& x) { x.device = SPTILE_DEVICE_CUDA; }) == SPTILE_STATUS_USAGE);
  CHECK(with([](auto& x) { x.row_dtype = SPTILE_DTYPE_F32; }) == SPTILE_STATUS_USAGE);
  CHECK(with([](auto& x) { x.disorder = 3; }) == SPTILE_STATUS_USAGE);
  CHECK(with([](auto& x) { x.reserved = 1; }) == SPTILE_STATUS_USAGE);

  sptile_tools_matrix* const matrix = copy(a.arrays());
  const TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  const auto converted = [&](auto change) {
    sptile_tools_options options = SPTILE_TOOLS_OPTIONS_INIT;
    change(options);
    return sptile_tools_convert(matrix, path.c_str(), -1, &options, nullptr);
  };
  CHECK(converted([](auto& o) { o.size = 0; }) == SPTILE_STATUS_USAGE);
  CHECK(converted([](auto& o) { o.threads = -1; }) == SPTILE_STATUS_USAGE);
  CHECK(converted([](auto& o) { o.window_rows = 1 << 20; }) == SPTILE_STATUS_USAGE);
  CHECK(converted([](auto& o) { o.transpose = 3; }) == SPTILE_STATUS_USAGE);
  CHECK(converted([](auto& o) { o.dtype = SPTILE_DTYPE_I32; }) == SPTILE_STATUS_USAGE);
  CHECK(converted([](auto& o) { o.formats = "bitcf"; }) == SPTILE_STATUS_USAGE);
  CHECK(says("bittcf"));
  CHECK(converted([](auto& o) { o.formats = "tall:-3"; }) == SPTILE_STATUS_USAGE);
  CHECK(converted([](auto& o) { o.method = "rmc"; }) == SPTILE_STATUS_USAGE);
  CHECK(says("rcm"));
  CHECK(converted([](auto& o) { o.preset = "fast"; }) == SPTILE_STATUS_USAGE);
  CHECK(converted([](auto& o) { o.settings = "x"; }) == SPTILE_STATUS_USAGE);
  sptile_tools_report report{};
  CHECK(sptile_tools_convert(matrix, path.c_str(), -1, nullptr, &report) == SPTILE_STATUS_USAGE);
  CHECK(files_in(folder) == 0);
  CHECK(sptile_tools_convert(matrix, (folder / "none/a.h5").c_str(), -1, nullptr, nullptr) ==
        SPTILE_STATUS_IO);
  CHECK(sptile_tools_convert(matrix, (folder / "a.mtx").c_str(), -1, nullptr, nullptr) ==
        SPTILE_STATUS_USAGE);
  CHECK(sptile_tools_convert(matrix, nullptr, -1, nullptr, nullptr) == SPTILE_STATUS_USAGE);
  CHECK(sptile_tools_convert(nullptr, path.c_str(), -1, nullptr, nullptr) == SPTILE_STATUS_USAGE);
  CHECK(sptile_tools_reorder(matrix, nullptr, nullptr, nullptr, nullptr) == SPTILE_STATUS_USAGE);
  CHECK(sptile_tools_reorder(nullptr, nullptr, nullptr, nullptr, nullptr) == SPTILE_STATUS_USAGE);
  sptile_tools_matrix_destroy(matrix);
  sptile_tools_matrix_destroy(nullptr);

  sptile_tools_matrix* none = nullptr;
  CHECK(sptile_tools_read(nullptr, nullptr, &none) == SPTILE_STATUS_USAGE);
  CHECK(sptile_tools_read("a.mtx", nullptr, nullptr) == SPTILE_STATUS_USAGE);
  CHECK(sptile_tools_read((folder / "a.mtx").c_str(), nullptr, &none) == SPTILE_STATUS_IO);
  CHECK(sptile_tools_read(folder.path().c_str(), nullptr, &none) == SPTILE_STATUS_IO);
  CHECK(sptile_tools_read("-", nullptr, &none) ==
        SPTILE_STATUS_IO);  // a file of that name, not standard input
  std::ofstream(folder / "bad.mtx") << "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n";
  CHECK(sptile_tools_read((folder / "bad.mtx").c_str(), nullptr, &none) == SPTILE_STATUS_BAD_INPUT);
  CHECK(says(":3"));
  CHECK(sptile_tools_copy(nullptr, nullptr, &none) == SPTILE_STATUS_USAGE);
  CHECK(sptile_tools_arrays(nullptr, nullptr) == SPTILE_STATUS_USAGE);
  CHECK(none == nullptr);
}

TEST_CASE("a message is that of its library and its thread") {
  CHECK(sptile_matrix_open(nullptr, nullptr, nullptr) == SPTILE_STATUS_USAGE);
  const std::string theirs = sptile_last_error();
  CHECK(sptile_tools_arrays(nullptr, nullptr) == SPTILE_STATUS_USAGE);
  CHECK(sptile_last_error() == theirs);
  CHECK(says("sptile_tools_arrays"));
  std::string elsewhere = "?";
  std::thread([&] { elsewhere = sptile_tools_last_error(); }).join();
  CHECK(elsewhere.empty());
}
