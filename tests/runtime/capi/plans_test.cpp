// Every entry point of the C interface with good and with bad arguments; linked to the shared library.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "sptile.h"

namespace {

// [ 1 . 2 ]
// [ . . . ]
// [ . 3 . ]
struct Small {
  std::vector<std::int64_t> row_ptr = {0, 2, 2, 3};
  std::vector<std::int32_t> col_idx = {0, 2, 1};
  std::vector<float> values = {1, 2, 3};

  sptile_status plan(const sptile_spmm_options* options, sptile_plan** out) const {
    return sptile_plan_spmm_csr(3, 3, row_ptr.data(), col_idx.data(), values.data(), SPTILE_F32, options,
                                out);
  }
};

sptile_spmm_options options_for(std::int64_t n) {
  sptile_spmm_options options;
  REQUIRE(sptile_spmm_options_init(&options, sizeof(options)) == SPTILE_OK);
  options.n = n;
  return options;
}

/// The message of a failure names the function or the field, so that it can be found.
bool says(const char* part) { return std::string(sptile_last_error()).find(part) != std::string::npos; }

}  // namespace

TEST_CASE("C interface: versions") {
  CHECK(sptile_abi_version() == 1);
  CHECK(std::string(sptile_version()) == SPTILE_VERSION);
}

TEST_CASE("C interface: plans a CSR matrix in memory, runs it, refreshes it, tells about it") {
  const Small small;
  sptile_spmm_options options = options_for(2);
  options.refreshable = 1;
  options.threads = 1;
  options.kernel = "cpu.csr.generic";
  sptile_plan* plan = nullptr;
  REQUIRE(small.plan(&options, &plan) == SPTILE_OK);
  std::int64_t rows = 0, cols = 0, n = 0;
  CHECK(sptile_plan_shape(plan, &rows, &cols, &n) == SPTILE_OK);
  CHECK(rows == 3);
  CHECK(cols == 3);
  CHECK(n == 2);
  sptile_dtype dense = SPTILE_NONE;
  CHECK(sptile_plan_dense(plan, &dense) == SPTILE_OK);
  CHECK(dense == SPTILE_F32);
  const char* name = nullptr;
  CHECK(sptile_plan_kernel(plan, &name) == SPTILE_OK);
  CHECK(std::string(name) == "cpu.csr.generic");

  const std::vector<float> b = {1, 2, 3, 4, 5, 6};
  std::vector<float> c(6, 100);
  CHECK(sptile_spmm(plan, 1, b.data(), 2, 0, c.data(), 2) == SPTILE_OK);
  CHECK(c == std::vector<float>{11, 14, 0, 0, 9, 12});
  CHECK(sptile_spmm(plan, 2, b.data(), 2, -1, c.data(), 2) == SPTILE_OK);
  CHECK(c == std::vector<float>{11, 14, 0, 0, 9, 12});

  const std::vector<float> fresh = {10, 20, 30};
  CHECK(sptile_plan_refresh(plan, fresh.data(), SPTILE_F32, 3) == SPTILE_OK);
  CHECK(sptile_spmm(plan, 1, b.data(), 2, 0, c.data(), 2) == SPTILE_OK);
  CHECK(c == std::vector<float>{110, 140, 0, 0, 90, 120});
  sptile_plan_destroy(plan);
}

TEST_CASE("C interface: a pattern needs no values") {
  const Small small;
  const sptile_spmm_options options = options_for(1);
  sptile_plan* plan = nullptr;
  REQUIRE(sptile_plan_spmm_csr(3, 3, small.row_ptr.data(), small.col_idx.data(), nullptr, SPTILE_NONE,
                               &options, &plan) == SPTILE_OK);
  const std::vector<float> b = {1, 2, 3};
  std::vector<float> c(3);
  CHECK(sptile_spmm(plan, 1, b.data(), 1, 0, c.data(), 1) == SPTILE_OK);
  CHECK(c == std::vector<float>{4, 0, 2});
  sptile_plan_destroy(plan);
}

TEST_CASE("C interface: a matrix without rows has nothing to run") {
  const std::int64_t row_ptr = 0;
  const sptile_spmm_options options = options_for(4);
  sptile_plan* plan = nullptr;
  REQUIRE(sptile_plan_spmm_csr(0, 0, &row_ptr, nullptr, nullptr, SPTILE_F32, &options, &plan) == SPTILE_OK);
  CHECK(sptile_spmm(plan, 1, nullptr, 4, 0, nullptr, 4) == SPTILE_OK);
  sptile_plan_destroy(plan);
}

TEST_CASE("C interface: precision, workspace and stream of a plan for the CPU") {
  const Small small;
  sptile_spmm_options options = options_for(1);
  options.precision = SPTILE_TF32;  // the least exact that will do
  sptile_plan* plan = nullptr;
  REQUIRE(small.plan(&options, &plan) == SPTILE_OK);
  sptile_precision precision = SPTILE_PRECISION_DEFAULT;
  CHECK(sptile_plan_precision(plan, &precision) == SPTILE_OK);
  CHECK(precision == SPTILE_FP32);
  size_t bytes = 1;
  CHECK(sptile_plan_workspace(plan, &bytes) == SPTILE_OK);
  CHECK(bytes == 0);
  const float b[3] = {1, 1, 1};
  float c[3] = {};
  CHECK(sptile_spmm_stream(plan, 1, b, 1, 0, c, 1, nullptr) == SPTILE_OK);
  CHECK(c[0] == 3);
  CHECK(sptile_spmm_workspace(plan, 2, b, 1, 0, c, 1, nullptr, nullptr) == SPTILE_OK);
  CHECK(sptile_spmm_sized_workspace(plan, 2, b, 1, 0, c, 1, nullptr, 0, nullptr) == SPTILE_OK);
  CHECK(sptile_spmm_sized_workspace(nullptr, 2, b, 1, 0, c, 1, nullptr, 0, nullptr) == SPTILE_USAGE);
  CHECK(c[0] == 6);
  CHECK(sptile_spmm_stream(plan, 1, b, 1, 0, c, 1, c) == SPTILE_USAGE);  // no streams on the CPU
  CHECK(sptile_plan_precision(plan, nullptr) == SPTILE_USAGE);
  CHECK(sptile_plan_precision(nullptr, &precision) == SPTILE_USAGE);
  CHECK(sptile_plan_workspace(plan, nullptr) == SPTILE_USAGE);
  CHECK(sptile_plan_workspace(nullptr, &bytes) == SPTILE_USAGE);
  sptile_plan_destroy(plan);
  options.precision = 99;
  CHECK(small.plan(&options, &plan) == SPTILE_USAGE);
  CHECK(says("options.precision = 99"));
}

TEST_CASE("C interface: options of older and newer callers") {
  const Small small;
  struct Newer {
    sptile_spmm_options known;
    std::int64_t added;
  } newer = {};
  REQUIRE(sptile_spmm_options_init(&newer.known, sizeof(newer)) == SPTILE_OK);
  CHECK(newer.known.size == sizeof(newer));
  CHECK(newer.added == 0);
  newer.known.n = 1;
  sptile_plan* plan = nullptr;
  CHECK(small.plan(&newer.known, &plan) == SPTILE_OK);
  sptile_plan_destroy(plan);
  newer.added = 1;
  CHECK(small.plan(&newer.known, &plan) == SPTILE_USAGE);
  CHECK(plan == nullptr);
  sptile_spmm_options older;  // the first version ended with the name of the kernel
  REQUIRE(sptile_spmm_options_init(&older, offsetof(sptile_spmm_options, precision)) == SPTILE_OK);
  older.n = 1;
  older.precision = 99;  // behind what this caller knows
  CHECK(small.plan(&older, &plan) == SPTILE_OK);
  sptile_plan_destroy(plan);
  sptile_spmm_options raw = {};  // never initialised: size 0
  raw.n = 1;
  CHECK(small.plan(&raw, &plan) == SPTILE_USAGE);
  CHECK(says("sptile_spmm_options_init"));
}

TEST_CASE("C interface: bad arguments of options") {
  CHECK(sptile_spmm_options_init(nullptr, sizeof(sptile_spmm_options)) == SPTILE_USAGE);
  sptile_spmm_options options;
  CHECK(sptile_spmm_options_init(&options, 3) == SPTILE_USAGE);
  const Small small;
  const auto status = [&](auto change) {
    sptile_spmm_options changed = options_for(1);
    change(changed);
    sptile_plan* plan = reinterpret_cast<sptile_plan*>(&changed);
    const sptile_status result = small.plan(&changed, &plan);
    CHECK(plan == nullptr);  // a failure leaves no handle behind
    CHECK(std::strlen(sptile_last_error()) > 0);
    return result;
  };
  CHECK(status([](auto& o) { o.n = 0; }) == SPTILE_USAGE);
  CHECK(status([](auto& o) { o.n = -5; }) == SPTILE_USAGE);
  CHECK(status([](auto& o) { o.n = INT64_MAX; }) == SPTILE_UNSUPPORTED);
  CHECK(status([](auto& o) { o.threads = -1; }) == SPTILE_USAGE);
  CHECK(status([](auto& o) { o.dense = 77; }) == SPTILE_USAGE);
  CHECK(status([](auto& o) { o.dense = SPTILE_NONE; }) == SPTILE_USAGE);
  CHECK(status([](auto& o) { o.dense = SPTILE_F64; }) == SPTILE_UNSUPPORTED);
  CHECK(status([](auto& o) { o.device = 9; }) == SPTILE_USAGE);
  CHECK(status([](auto& o) { o.nonfinite = -1; }) == SPTILE_USAGE);
  CHECK(status([](auto& o) { o.kernel = "cpu.csr.abacus"; }) == SPTILE_USAGE);
}

TEST_CASE("C interface: bad arguments of a CSR plan") {
  const Small small;
  const sptile_spmm_options options = options_for(1);
  sptile_plan* plan = nullptr;
  const auto csr = [&](std::int64_t rows, std::int64_t cols, const std::int64_t* row_ptr,
                       const std::int32_t* col_idx, const void* values, sptile_dtype dtype) {
    return sptile_plan_spmm_csr(rows, cols, row_ptr, col_idx, values, dtype, &options, &plan);
  };
  const auto* p = small.row_ptr.data();
  const auto* i = small.col_idx.data();
  const auto* v = small.values.data();
  CHECK(csr(-1, 3, p, i, v, SPTILE_F32) == SPTILE_USAGE);
  CHECK(csr(3, -1, p, i, v, SPTILE_F32) == SPTILE_USAGE);
  CHECK(csr(std::int64_t{1} << 31, 3, p, i, v, SPTILE_F32) == SPTILE_UNSUPPORTED);
  CHECK(csr(3, 3, nullptr, i, v, SPTILE_F32) == SPTILE_USAGE);
  CHECK(says("row_ptr"));
  CHECK(csr(3, 3, p, nullptr, v, SPTILE_F32) == SPTILE_USAGE);
  CHECK(csr(3, 3, p, i, nullptr, SPTILE_F32) == SPTILE_USAGE);
  CHECK(csr(3, 3, p, i, v, SPTILE_NONE) == SPTILE_USAGE);
  CHECK(csr(3, 3, p, i, v, static_cast<sptile_dtype>(2)) == SPTILE_USAGE);
  CHECK(csr(3, 2, p, i, v, SPTILE_F32) == SPTILE_BAD_INPUT);  // column 2 of 2
  const std::vector<std::int64_t> falling = {0, 3, 2, 3}, negative = {0, 0, 0, -1},
                                  huge = {0, 0, 0, INT64_MAX};
  CHECK(csr(3, 3, falling.data(), i, v, SPTILE_F32) == SPTILE_BAD_INPUT);
  CHECK(csr(3, 3, negative.data(), i, v, SPTILE_F32) == SPTILE_BAD_INPUT);
  CHECK(csr(3, 3, huge.data(), i, v, SPTILE_F32) == SPTILE_BAD_INPUT);
  CHECK(plan == nullptr);
  CHECK(small.plan(&options, nullptr) == SPTILE_USAGE);
  CHECK(small.plan(nullptr, &plan) == SPTILE_USAGE);
}

TEST_CASE("C interface: bad arguments of plans from device memory") {
  const Small small;  // in host memory: nothing here gets as far as to read it
  sptile_spmm_options options = options_for(1);
  options.device = SPTILE_CUDA;
  sptile_plan* plan = nullptr;
  for (const auto make : {sptile_plan_from_device_csr, sptile_plan_sddmm_from_device_csr}) {
    const auto csr = [&](const void* values, sptile_dtype dtype, const char* format,
                         const sptile_spmm_options* from, sptile_plan** out) {
      return make(3, 3, 3, small.row_ptr.data(), small.col_idx.data(), values, dtype, format, from, out);
    };
    const auto* v = small.values.data();
    CHECK(csr(v, SPTILE_F32, "csr", &options, nullptr) == SPTILE_USAGE);
    CHECK(says("plan is NULL"));
    CHECK(csr(v, SPTILE_F32, nullptr, &options, &plan) == SPTILE_USAGE);
    CHECK(says("format is NULL"));
    CHECK(csr(v, SPTILE_F32, "csr", nullptr, &plan) == SPTILE_USAGE);
    CHECK(says("options is NULL"));
    CHECK(csr(v, SPTILE_NONE, "csr", &options, &plan) == SPTILE_USAGE);
    CHECK(says("value_dtype is SPTILE_NONE"));
    CHECK(csr(nullptr, SPTILE_F32, "csr", &options, &plan) == SPTILE_USAGE);
    CHECK(says("values is NULL"));
    CHECK(csr(v, static_cast<sptile_dtype>(3), "csr", &options, &plan) == SPTILE_USAGE);
    CHECK(says("value_dtype = 3"));
    sptile_spmm_options cpu = options;
    cpu.device = SPTILE_CPU;
    CHECK(csr(v, SPTILE_F32, "csr", &cpu, &plan) == SPTILE_USAGE);
    CHECK(says("plan for CUDA, not the CPU"));
    sptile_spmm_options none = options;
    none.n = 0;
    CHECK(csr(v, SPTILE_F32, "csr", &none, &plan) == SPTILE_USAGE);
    CHECK(says("n = 0"));
    CHECK(plan == nullptr);
  }
}

TEST_CASE("C interface: bad arguments of plans and runs") {
  const Small small;
  const sptile_spmm_options options = options_for(2);
  sptile_plan* plan = nullptr;
  REQUIRE(small.plan(&options, &plan) == SPTILE_OK);
  std::vector<float> b(6), c(6);
  CHECK(sptile_spmm(nullptr, 1, b.data(), 2, 0, c.data(), 2) == SPTILE_USAGE);
  CHECK(says("plan is NULL"));
  CHECK(sptile_spmm(plan, 1, nullptr, 2, 0, c.data(), 2) == SPTILE_USAGE);
  CHECK(sptile_spmm(plan, 1, b.data(), 1, 0, c.data(), 2) == SPTILE_USAGE);
  CHECK(sptile_spmm(plan, 1, b.data(), -2, 0, c.data(), 2) == SPTILE_USAGE);
  CHECK(sptile_spmm(plan, 1, b.data(), 2, 0, nullptr, 2) == SPTILE_USAGE);
  CHECK(sptile_spmm(plan, 1, b.data(), 2, 0, c.data(), 1) == SPTILE_USAGE);
  CHECK(sptile_plan_refresh(nullptr, b.data(), SPTILE_F32, 3) == SPTILE_USAGE);
  CHECK(sptile_plan_refresh(plan, b.data(), SPTILE_F32, 3) == SPTILE_USAGE);  // not planned refreshable
  CHECK(sptile_plan_refresh(plan, nullptr, SPTILE_F32, 3) == SPTILE_USAGE);
  CHECK(sptile_plan_refresh(plan, b.data(), SPTILE_NONE, 3) == SPTILE_USAGE);
  CHECK(sptile_plan_shape(nullptr, nullptr, nullptr, nullptr) == SPTILE_USAGE);
  CHECK(sptile_plan_shape(plan, nullptr, nullptr, nullptr) == SPTILE_OK);
  CHECK(sptile_plan_dense(plan, nullptr) == SPTILE_USAGE);
  CHECK(sptile_plan_kernel(plan, nullptr) == SPTILE_USAGE);
  sptile_dtype dense = SPTILE_NONE;
  const char* name = nullptr;
  CHECK(sptile_plan_dense(nullptr, &dense) == SPTILE_USAGE);
  CHECK(sptile_plan_kernel(nullptr, &name) == SPTILE_USAGE);
  sptile_plan_destroy(plan);
  sptile_plan_destroy(nullptr);
}

TEST_CASE("C interface: bad arguments of bundles") {
  auto* bundle = reinterpret_cast<sptile_bundle*>(&options_for);
  CHECK(sptile_bundle_open("no/such/file.h5", 0, &bundle) == SPTILE_IO);
  CHECK(bundle == nullptr);
  CHECK(says("no/such/file.h5"));
  CHECK(sptile_bundle_open(nullptr, 0, &bundle) == SPTILE_USAGE);
  CHECK(sptile_bundle_open("x.h5", 0, nullptr) == SPTILE_USAGE);
  CHECK(sptile_bundle_shape(nullptr, nullptr, nullptr, nullptr) == SPTILE_USAGE);
  sptile_dtype dtype = SPTILE_NONE;
  CHECK(sptile_bundle_dtype(nullptr, &dtype) == SPTILE_USAGE);
  int count = 0;
  CHECK(sptile_bundle_format_count(nullptr, &count) == SPTILE_USAGE);
  const char* name = nullptr;
  CHECK(sptile_bundle_format_name(nullptr, 0, &name) == SPTILE_USAGE);
  const sptile_spmm_options options = options_for(1);
  sptile_plan* plan = nullptr;
  CHECK(sptile_plan_spmm(nullptr, "csr", &options, &plan) == SPTILE_USAGE);
  CHECK(sptile_plan_spmm(nullptr, "csr", &options, nullptr) == SPTILE_USAGE);
  sptile_bundle_close(nullptr);
}

TEST_CASE("C interface: each thread has its own last error") {
  CHECK(sptile_plan_dense(nullptr, nullptr) == SPTILE_USAGE);
  const std::string mine = sptile_last_error();
  std::string first, second;
  std::thread([&] {
    first = sptile_last_error();
    (void)sptile_bundle_open(nullptr, 0, nullptr);
    second = sptile_last_error();
  }).join();
  CHECK(first.empty());
  CHECK_FALSE(second.empty());
  CHECK(mine == sptile_last_error());
}

TEST_CASE("C interface: samples dot products, and multiplies with them") {
  const Small small;
  sptile_plan_options options = options_for(2);
  options.threads = 1;
  sptile_plan* sample = nullptr;
  REQUIRE(sptile_plan_sddmm_csr(3, 3, small.row_ptr.data(), small.col_idx.data(), small.values.data(),
                                SPTILE_F32, &options, &sample) == SPTILE_OK);
  std::int64_t entries = 0;
  CHECK(sptile_plan_entries(sample, &entries) == SPTILE_OK);
  CHECK(entries == 3);
  const std::vector<float> x = {1, 2, 3, 4, 5, 6}, y = {1, 1, 2, 0, 0, 3};
  std::vector<float> out(3, 100);
  CHECK(sptile_sddmm(sample, 1, x.data(), 2, y.data(), 2, 0, out.data(), 0) == SPTILE_OK);
  CHECK(out == std::vector<float>{3, 6, 10});
  CHECK(sptile_sddmm(sample, 2, x.data(), 2, y.data(), 2, -1, out.data(), 1) == SPTILE_OK);
  CHECK(out == std::vector<float>{3, 18, 50});

  options.refreshable = 1;
  sptile_plan* plan = nullptr;
  REQUIRE(small.plan(&options, &plan) == SPTILE_OK);
  CHECK(sptile_plan_refresh_packed(plan, out.data(), SPTILE_F32, 3, nullptr) == SPTILE_OK);
  const std::vector<float> b = {1, 2, 3, 4, 5, 6};
  std::vector<float> c(6);
  CHECK(sptile_spmm(plan, 1, b.data(), 2, 0, c.data(), 2) == SPTILE_OK);
  CHECK(c == std::vector<float>{93, 114, 0, 0, 150, 200});

  CHECK(sptile_sddmm(plan, 1, x.data(), 2, y.data(), 2, 0, out.data(), 0) == SPTILE_USAGE);
  CHECK(says("the plan was made for spmm"));
  CHECK(sptile_spmm(sample, 1, b.data(), 2, 0, c.data(), 2) == SPTILE_USAGE);
  sptile_plan_destroy(plan);
  sptile_plan_destroy(sample);
}

TEST_CASE("C interface: bad arguments of sampled products") {
  const Small small;
  const sptile_plan_options options = options_for(2);
  const auto plan_csr = [&](const std::int64_t* row_ptr, const sptile_plan_options* from, sptile_plan** out) {
    return sptile_plan_sddmm_csr(3, 3, row_ptr, small.col_idx.data(), nullptr, SPTILE_NONE, from, out);
  };
  sptile_plan* plan = nullptr;
  CHECK(plan_csr(small.row_ptr.data(), &options, nullptr) == SPTILE_USAGE);
  CHECK(says("sptile_plan_sddmm_csr: plan is NULL"));
  CHECK(plan_csr(nullptr, &options, &plan) == SPTILE_USAGE);
  CHECK(says("sptile_plan_sddmm_csr: row_ptr is NULL"));
  CHECK(plan_csr(small.row_ptr.data(), nullptr, &plan) == SPTILE_USAGE);
  CHECK(sptile_plan_sddmm(nullptr, "csr", &options, &plan) == SPTILE_USAGE);
  CHECK(says("sptile_plan_sddmm: bundle is NULL"));
  CHECK(sptile_plan_sddmm(nullptr, "csr", &options, nullptr) == SPTILE_USAGE);
  REQUIRE(plan_csr(small.row_ptr.data(), &options, &plan) == SPTILE_OK);
  std::vector<float> x(6), out(3);
  float* const p = x.data();
  CHECK(sptile_sddmm(nullptr, 1, p, 2, p, 2, 0, out.data(), 0) == SPTILE_USAGE);
  CHECK(says("plan is NULL"));
  CHECK(sptile_sddmm(plan, 1, nullptr, 2, p, 2, 0, out.data(), 0) == SPTILE_USAGE);
  CHECK(sptile_sddmm(plan, 1, p, 2, nullptr, 2, 0, out.data(), 0) == SPTILE_USAGE);
  CHECK(sptile_sddmm(plan, 1, p, 2, p, 2, 0, nullptr, 0) == SPTILE_USAGE);
  CHECK(sptile_sddmm(plan, 1, p, 1, p, 2, 0, out.data(), 0) == SPTILE_USAGE);
  CHECK(sptile_sddmm(plan, 1, p, 2, p, -2, 0, out.data(), 0) == SPTILE_USAGE);
  CHECK(sptile_sddmm_stream(plan, 1, p, 2, p, 2, 0, out.data(), 0, p) == SPTILE_USAGE);
  CHECK(says("takes no stream"));
  std::int64_t entries = 0;
  CHECK(sptile_plan_entries(nullptr, &entries) == SPTILE_USAGE);
  CHECK(sptile_plan_entries(plan, nullptr) == SPTILE_USAGE);
  CHECK(sptile_plan_refresh_packed(nullptr, p, SPTILE_F32, 3, nullptr) == SPTILE_USAGE);
  CHECK(sptile_plan_refresh_packed(plan, nullptr, SPTILE_F32, 3, nullptr) == SPTILE_USAGE);
  CHECK(sptile_plan_refresh_packed(plan, p, SPTILE_F32, 3, nullptr) == SPTILE_USAGE);  // not refreshable
  sptile_plan_destroy(plan);

  sptile_plan_options refreshable = options;
  refreshable.refreshable = 1;
  REQUIRE(small.plan(&refreshable, &plan) == SPTILE_OK);
  CHECK(sptile_plan_refresh_packed(plan, p, SPTILE_F32, 2, nullptr) == SPTILE_USAGE);
  CHECK(sptile_plan_refresh_packed(plan, p, SPTILE_F64, 3, nullptr) == SPTILE_USAGE);
  CHECK(sptile_plan_refresh_packed(plan, p, SPTILE_F32, 3, p) == SPTILE_USAGE);  // the CPU has no streams
  sptile_plan_destroy(plan);
}
