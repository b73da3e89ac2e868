// Every allocation of the C interface fails once, and all that follow it: a call reports that memory is
// short, and neither ends the process nor leaves anything behind.
#include <doctest/doctest.h>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "formats/io/matrix_market/matrix_market_reader.hpp"
#include "sptile_tools.h"
#include "tests/temporary_folder.hpp"
#include "tests/tools/partition/written_partition.hpp"

namespace {

// How many allocations may still succeed; below 0 nothing is counted.
constexpr std::int64_t kUncounted = -1;
std::atomic<std::int64_t> allowed{kUncounted};

void* allocate(std::size_t bytes, std::size_t alignment = 0) noexcept {
  const std::int64_t left = allowed.load();
  if (left == 0) return nullptr;
  if (left > 0) allowed.fetch_sub(1);
  const std::size_t size = bytes == 0 ? 1 : bytes;
  if (alignment == 0) return std::malloc(size);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

// Not inlined: compilers would warn of new that is met by free.
[[gnu::noinline]] void release(void* memory) noexcept { std::free(memory); }

void* allocate_or_throw(std::size_t bytes, std::size_t alignment = 0) {
  if (void* const memory = allocate(bytes, alignment)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }

using namespace sptile;

namespace {

using LastError = const char* (*)();

// Calls until no allocation is refused: of long calls not each of the later ones. `call` gives its status and
// frees what it made; `after` looks at what a call left that was refused.
void refuse_each(
    const std::string& what, LastError last_error, const std::function<sptile_status()>& call,
    const std::function<void()>& after = [] {}) {
  CAPTURE(what);
  constexpr std::int64_t kMax = 20000;
  std::int64_t refused = 0;
  for (std::int64_t n = 0; n < kMax; n += 1 + n / 200) {
    allowed = n;
    const sptile_status status = call();
    const bool all_allowed = allowed.exchange(kUncounted) > 0;
    if (status == SPTILE_STATUS_OK || all_allowed) {
      CHECK(status == SPTILE_STATUS_OK);
      CHECK(refused > 0);
      return;
    }
    const std::string message = last_error();
    REQUIRE_MESSAGE(status == SPTILE_STATUS_IO, message);
    REQUIRE_MESSAGE(message.find("memory") != std::string::npos, message);
    after();
    ++refused;
  }
  FAIL("it needs more than ", kMax, " allocations");
}

sptile_tools_options tools_options() {
  sptile_tools_options options = SPTILE_TOOLS_OPTIONS_INIT;
  options.threads = 1;
  options.formats = "bittcf,tall";
  return options;
}

sptile_status read_and_free(const std::string& path) {
  sptile_tools_options options = tools_options();
  sptile_tools_matrix* matrix = nullptr;
  const sptile_status status = sptile_tools_read(path.c_str(), &options, &matrix);
  sptile_tools_matrix_destroy(matrix);
  return status;
}

std::size_t files_in(const TemporaryFolder& folder) {
  const std::filesystem::directory_iterator entries(folder.path());
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

// A matrix in a file of each kind that needs no HDF5, and a bundle of it with values that can be replaced.
struct Files {
  TemporaryFolder folder;
  std::string bundle = folder / "a.h5";

  std::string write(const char* name, const std::string& text) const {
    const std::string path = folder / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  Files() {
    sptile_tools_options options = tools_options();
    options.refreshable = 1;
    sptile_tools_matrix* matrix = nullptr;
    const std::string mtx =
        write("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 3 2\n3 2 3\n");
    REQUIRE(sptile_tools_read(mtx.c_str(), &options, &matrix) == SPTILE_STATUS_OK);
    REQUIRE(sptile_tools_convert(matrix, bundle.c_str(), -1, &options, nullptr) == SPTILE_STATUS_OK);
    sptile_tools_matrix_destroy(matrix);
  }
  [[nodiscard]] sptile_matrix* open() const {
    sptile_matrix_options options = SPTILE_MATRIX_OPTIONS_INIT;
    options.refreshable = 1;
    sptile_matrix* matrix = nullptr;
    REQUIRE(sptile_matrix_open(bundle.c_str(), &options, &matrix) == SPTILE_STATUS_OK);
    return matrix;
  }
};

sptile_plan_options plan_options() {
  sptile_plan_options options = SPTILE_PLAN_OPTIONS_INIT;
  options.n = 4;
  options.threads = 1;
  return options;
}

}  // namespace

TEST_CASE("reading reports missing memory, whichever allocation is refused") {
  const Files files;
  const std::string paths[] = {
      files.folder / "a.mtx",
      files.write("a.edges", "0 1 2\n1 2 3\n"),
      files.write("a.graph", "2 1\n2\n1\n"),
      files.write("a.smtx", "2, 3, 3\n0 1 3\n2 0 1\n"),
      files.write("a.tns", "1 1 1\n2 2 2\n"),
      files.write("a.rua",
                  "title\n3 1 1 1\nRUA 2 2 2 0\n(8I3)           (8I3)           (4E10.2)\n  1  2  3\n"
                  "  1  2\n  1.00E+00  2.00E+00\n"),
      files.bundle,
  };
  for (const std::string& path : paths)
    refuse_each(path, sptile_tools_last_error, [&] { return read_and_free(path); });
}

TEST_CASE("converting reports missing memory, and leaves no file behind") {
  const Files files;
  sptile_tools_options options = tools_options();
  sptile_tools_matrix* matrix = nullptr;
  REQUIRE(sptile_tools_read((files.folder / "a.mtx").c_str(), &options, &matrix) == SPTILE_STATUS_OK);
  const TemporaryFolder folder;
  const std::string out = folder / "b.h5";
  refuse_each(
      "convert", sptile_tools_last_error,
      [&] { return sptile_tools_convert(matrix, out.c_str(), -1, &options, nullptr); },
      [&] { CHECK(files_in(folder) == 0); });
  refuse_each("reorder", sptile_tools_last_error, [&] {
    std::int32_t order[3] = {};
    return sptile_tools_reorder(matrix, &options, order, nullptr, nullptr);
  });
  sptile_tools_matrix_destroy(matrix);
}

TEST_CASE("opening and planning report missing memory") {
  const Files files;
  refuse_each("open", sptile_last_error, [&] {
    sptile_matrix* matrix = nullptr;
    const sptile_status status = sptile_matrix_open(files.bundle.c_str(), nullptr, &matrix);
    sptile_matrix_destroy(matrix);
    return status;
  });
  sptile_matrix* const matrix = files.open();
  for (const char* const op : {"spmm", "sddmm"})
    refuse_each(op, sptile_last_error, [&] {
      const sptile_plan_options options = plan_options();
      sptile_plan* plan = nullptr;
      const sptile_status status = sptile_plan_create(matrix, op, &options, &plan);
      sptile_plan_destroy(plan);
      return status;
    });
  refuse_each("predict", sptile_last_error, [&] {
    const sptile_plan_options options = plan_options();
    int count = 0;
    return sptile_predict(matrix, "spmm", &options, nullptr, sizeof(sptile_prediction), 0, &count);
  });
  sptile_matrix_destroy(matrix);
}

TEST_CASE("a run needs no memory but for what it refuses; a refresh needs none or reports it") {
  const Files files;
  sptile_matrix* const matrix = files.open();
  const sptile_plan_options options = plan_options();
  sptile_plan* plan = nullptr;
  REQUIRE(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_OK);
  std::vector<float> b(12, 1), c(12);
  sptile_operands operands = SPTILE_OPERANDS_INIT;
  operands.dense[0].data = b.data(), operands.dense[1].data = c.data();
  allowed = 0;
  const sptile_status good = sptile_run(plan, &operands, nullptr, nullptr);
  operands.dense[1].ld = 1;  // to be refused
  const sptile_status bad = sptile_run(plan, &operands, nullptr, nullptr);
  allowed = kUncounted;
  CHECK(good == SPTILE_STATUS_OK);
  CHECK(c[0] == 1);
  CHECK(bad == SPTILE_STATUS_IO);
  const std::vector<float> values = {4, 5, 6};
  sptile_values brought = {};
  brought.size = sizeof brought;
  brought.data = values.data(), brought.count = 3, brought.value_dtype = SPTILE_DTYPE_F32;
  for (std::int64_t n = 0;; ++n) {
    allowed = n;
    const sptile_status status = sptile_matrix_refresh(matrix, &brought, nullptr);
    allowed = kUncounted;
    if (status == SPTILE_STATUS_OK) break;
    REQUIRE(status == SPTILE_STATUS_IO);
  }
  sptile_plan_destroy(plan);
  sptile_matrix_destroy(matrix);
}

TEST_CASE("opening a part reports missing memory") {
  const TemporaryFolder folder;
  const auto a = formats::read_matrix_market(
      formats::InputBytes::from_memory(
          "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 3 2\n3 2 3\n", "a.mtx"),
      {}, {});
  REQUIRE(a);
  const auto division = reorder::divide_by_part(std::vector<std::int32_t>{0, 1, 0}, 2);
  tests::write_parts(a->csr.view(), division, folder / "parts");
  const std::string path = folder / "parts/part-0000.h5";
  refuse_each("part", sptile_last_error, [&] {
    sptile_part* part = nullptr;
    const sptile_status status = sptile_part_open(path.c_str(), nullptr, &part);
    sptile_part_destroy(part);
    return status;
  });
}
