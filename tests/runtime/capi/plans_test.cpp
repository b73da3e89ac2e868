// Every entry point of the C interface with good and with bad arguments; linked to the shared library.
#include <cstring>
#include <thread>

#include "tests/runtime/capi/small_matrix.hpp"

using namespace sptile::test;

TEST_CASE("C interface: versions") {
  CHECK(sptile_abi_version() == 3);
  CHECK(std::string(sptile_version()) == SPTILE_VERSION);
}

TEST_CASE("C interface: plans a CSR matrix in memory, runs it, refreshes it, tells about it") {
  const Small small;
  sptile_matrix* const matrix = small.matrix(true);
  sptile_plan_options options = options_for(2);
  options.threads = 1;
  options.kernel = "cpu.csr.generic";
  sptile_plan* plan = nullptr;
  REQUIRE(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_OK);
  const sptile_plan_info info = describe(plan);
  CHECK(info.rows == 3);
  CHECK(info.cols == 3);
  CHECK(info.entries == 3);
  CHECK(info.n == 2);
  CHECK(info.dense == SPTILE_DTYPE_F32);
  CHECK(info.values == SPTILE_DTYPE_F32);
  CHECK(info.precision == SPTILE_PRECISION_FP32);
  CHECK(info.workspace_bytes == 0);
  CHECK(info.device == SPTILE_DEVICE_CPU);
  CHECK(std::string(info.operation) == "spmm");
  CHECK(std::string(info.format) == "csr");
  CHECK(std::string(info.kernel) == "cpu.csr.generic");

  const std::vector<float> b = {1, 2, 3, 4, 5, 6};
  std::vector<float> c(6, 100);
  CHECK(spmm(plan, b.data(), c.data()) == SPTILE_STATUS_OK);
  CHECK(c == std::vector<float>{11, 14, 0, 0, 9, 12});
  CHECK(spmm(plan, b.data(), c.data(), 2, -1) == SPTILE_STATUS_OK);
  CHECK(c == std::vector<float>{11, 14, 0, 0, 9, 12});

  const std::vector<float> fresh = {10, 20, 30};
  CHECK(refresh(matrix, fresh.data(), 3) == SPTILE_STATUS_OK);
  CHECK(spmm(plan, b.data(), c.data()) == SPTILE_STATUS_OK);
  CHECK(c == std::vector<float>{110, 140, 0, 0, 90, 120});
  sptile_matrix_destroy(matrix);  // the plan stays
  CHECK(spmm(plan, b.data(), c.data()) == SPTILE_STATUS_OK);
  CHECK(c == std::vector<float>{110, 140, 0, 0, 90, 120});
  sptile_plan_destroy(plan);
}

TEST_CASE("C interface: a matrix gives its arrays") {
  Small small;
  sptile_matrix* const matrix = small.matrix();
  sptile_arrays a = SPTILE_ARRAYS_INIT;
  REQUIRE(sptile_matrix_arrays(matrix, &a) == SPTILE_STATUS_OK);
  CHECK(a.size == sizeof a);
  CHECK(a.rows == 3);
  CHECK(a.cols == 3);
  CHECK(a.nnz == 3);
  CHECK(a.row == small.row_ptr.data());  // borrowed, not copied
  CHECK(a.col == small.col_idx.data());
  CHECK(a.values == small.values.data());
  CHECK(a.value_dtype == SPTILE_DTYPE_F32);
  CHECK(a.layout == SPTILE_LAYOUT_CSR);
  CHECK(a.row_dtype == SPTILE_DTYPE_I64);
  CHECK(a.col_dtype == SPTILE_DTYPE_I32);
  CHECK(a.device == SPTILE_DEVICE_CPU);

  small.col_idx[1] = 3;  // they are checked
  CHECK(sptile_matrix_arrays(matrix, &a) == SPTILE_STATUS_BAD_INPUT);
  CHECK(sptile_matrix_arrays(nullptr, &a) == SPTILE_STATUS_USAGE);
  CHECK(sptile_matrix_arrays(matrix, nullptr) == SPTILE_STATUS_USAGE);
  a.size = 8;
  small.col_idx[1] = 2;
  CHECK(sptile_matrix_arrays(matrix, &a) == SPTILE_STATUS_USAGE);
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: a matrix is shared with other options") {
  const Small small;
  sptile_matrix* const matrix = small.matrix();
  sptile_matrix_options options = SPTILE_MATRIX_OPTIONS_INIT;
  options.refreshable = 1;
  sptile_matrix* other = nullptr;
  REQUIRE(sptile_matrix_share(matrix, &options, &other) == SPTILE_STATUS_OK);
  sptile_arrays a = SPTILE_ARRAYS_INIT;
  REQUIRE(sptile_matrix_arrays(other, &a) == SPTILE_STATUS_OK);
  CHECK(a.values == small.values.data());
  const std::vector<float> fresh = {4, 5, 6};
  CHECK(refresh(other, fresh.data(), 3) == SPTILE_STATUS_OK);
  CHECK(refresh(matrix, fresh.data(), 3) == SPTILE_STATUS_USAGE);  // it was not made refreshable
  sptile_matrix_destroy(other);

  options.copy = 1;
  CHECK(sptile_matrix_share(matrix, &options, &other) == SPTILE_STATUS_USAGE);
  CHECK(says("options.copy"));
  CHECK(other == nullptr);
  CHECK(sptile_matrix_share(nullptr, nullptr, &other) == SPTILE_STATUS_USAGE);
  CHECK(sptile_matrix_share(matrix, nullptr, nullptr) == SPTILE_STATUS_USAGE);
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: entries in host memory are given in the order of CSR") {
  const Small small;
  sptile_matrix* const matrix = small.matrix();
  sptile_given given = {};
  given.size = sizeof given;
  REQUIRE(sptile_matrix_given(matrix, &given) == SPTILE_STATUS_OK);
  CHECK(given.count == 3);
  CHECK(given.position == nullptr);
  CHECK(given.first == nullptr);
  CHECK(sptile_matrix_given(nullptr, &given) == SPTILE_STATUS_USAGE);
  CHECK(sptile_matrix_given(matrix, nullptr) == SPTILE_STATUS_USAGE);
  given.size = 8;
  CHECK(sptile_matrix_given(matrix, &given) == SPTILE_STATUS_USAGE);
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: a matrix tells about itself") {
  const Small small;
  sptile_matrix* const matrix = small.matrix(true);
  sptile_matrix_info info = {};
  info.size = sizeof info;
  CHECK(sptile_matrix_describe(matrix, &info) == SPTILE_STATUS_OK);
  CHECK(info.rows == 3);
  CHECK(info.cols == 3);
  CHECK(info.nnz == 3);
  CHECK(info.value_dtype == SPTILE_DTYPE_F32);
  CHECK(info.format_count == 1);
  CHECK(info.symmetric == -1);
  CHECK(info.transposed == 0);
  CHECK(info.host_bytes == 0);
  CHECK(info.device_bytes == 0);
  CHECK(info.content == 0);
  const char* name = nullptr;
  CHECK(sptile_matrix_format(matrix, 0, &name) == SPTILE_STATUS_OK);
  CHECK(std::string(name) == "csr");
  CHECK(sptile_matrix_format(matrix, 1, &name) == SPTILE_STATUS_USAGE);
  CHECK(name == nullptr);
  CHECK(sptile_matrix_format(matrix, -1, &name) == SPTILE_STATUS_USAGE);
  CHECK(sptile_matrix_format(matrix, 0, nullptr) == SPTILE_STATUS_USAGE);
  CHECK(sptile_matrix_format(nullptr, 0, &name) == SPTILE_STATUS_USAGE);

  const sptile_plan_options options = options_for(1);
  sptile_plan *first = nullptr, *second = nullptr;
  REQUIRE(sptile_plan_create(matrix, "spmm", &options, &first) == SPTILE_STATUS_OK);
  REQUIRE(sptile_plan_create(matrix, "sddmm", &options, &second) == SPTILE_STATUS_OK);
  CHECK(sptile_matrix_describe(matrix, &info) == SPTILE_STATUS_OK);
  CHECK(info.host_bytes == 3 * sizeof(float));  // values of its own, once for both
  sptile_plan_destroy(first);
  sptile_plan_destroy(second);
  CHECK(sptile_matrix_describe(matrix, &info) == SPTILE_STATUS_OK);
  CHECK(info.host_bytes == 0);
  CHECK(sptile_matrix_describe(matrix, nullptr) == SPTILE_STATUS_USAGE);
  CHECK(sptile_matrix_describe(nullptr, &info) == SPTILE_STATUS_USAGE);
  info.size = 8;
  CHECK(sptile_matrix_describe(matrix, &info) == SPTILE_STATUS_USAGE);
  sptile_matrix_destroy(matrix);
  sptile_matrix_destroy(nullptr);
}

TEST_CASE("C interface: arrays that are copied may go") {
  Small small;
  const sptile_arrays arrays = small.arrays();
  sptile_matrix_options copied = SPTILE_MATRIX_OPTIONS_INIT;
  copied.copy = 1;
  sptile_matrix* matrix = nullptr;
  REQUIRE(sptile_matrix_create(&arrays, &copied, nullptr, &matrix) == SPTILE_STATUS_OK);
  small = {{}, {}, {}};
  const sptile_plan_options options = options_for(1);
  sptile_plan* plan = nullptr;
  REQUIRE(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_OK);
  sptile_matrix_destroy(matrix);
  const std::vector<float> b = {1, 2, 3};
  std::vector<float> c(3);
  CHECK(spmm(plan, b.data(), c.data()) == SPTILE_STATUS_OK);
  CHECK(c == std::vector<float>{7, 0, 6});
  sptile_plan_destroy(plan);
}

TEST_CASE("C interface: values are shared by all plans, also by those that are made after a refresh") {
  const Small small;
  sptile_matrix* const matrix = small.matrix(true);
  const sptile_plan_options options = options_for(1);
  const std::vector<float> b = {1, 2, 3}, fresh = {10, 20, 30};
  std::vector<float> c(3);
  CHECK(refresh(matrix, fresh.data(), 3) == SPTILE_STATUS_OK);  // before there is any plan
  sptile_plan *plan = nullptr, *other = nullptr;
  REQUIRE(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_OK);
  CHECK(spmm(plan, b.data(), c.data()) == SPTILE_STATUS_OK);
  CHECK(c == std::vector<float>{70, 0, 60});
  CHECK(refresh(matrix, small.values.data(), 3) == SPTILE_STATUS_OK);
  sptile_plan_destroy(plan);
  REQUIRE(sptile_plan_create(matrix, "spmm", &options, &other) == SPTILE_STATUS_OK);
  CHECK(spmm(other, b.data(), c.data()) == SPTILE_STATUS_OK);
  CHECK(c == std::vector<float>{7, 0, 6});
  sptile_plan_destroy(other);
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: a pattern needs no values") {
  const Small small;
  sptile_arrays arrays = small.arrays();
  arrays.values = nullptr;
  arrays.value_dtype = SPTILE_DTYPE_NONE;
  sptile_matrix* matrix = nullptr;
  REQUIRE(sptile_matrix_create(&arrays, nullptr, nullptr, &matrix) == SPTILE_STATUS_OK);
  const sptile_plan_options options = options_for(1);
  sptile_plan* plan = nullptr;
  REQUIRE(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_OK);
  const std::vector<float> b = {1, 2, 3};
  std::vector<float> c(3);
  CHECK(spmm(plan, b.data(), c.data()) == SPTILE_STATUS_OK);
  CHECK(c == std::vector<float>{4, 0, 2});
  sptile_plan_destroy(plan);
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: a matrix without rows has nothing to run") {
  const std::int64_t row_ptr = 0;
  sptile_arrays arrays = SPTILE_ARRAYS_INIT;
  arrays.row = &row_ptr;
  arrays.value_dtype = SPTILE_DTYPE_F32;
  sptile_matrix* matrix = nullptr;
  REQUIRE(sptile_matrix_create(&arrays, nullptr, nullptr, &matrix) == SPTILE_STATUS_OK);
  const sptile_plan_options options = options_for(4);
  sptile_plan* plan = nullptr;
  REQUIRE(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_OK);
  CHECK(spmm(plan, nullptr, nullptr) == SPTILE_STATUS_OK);
  sptile_plan_destroy(plan);
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: precision, workspace and stream of a plan for the CPU") {
  const Small small;
  sptile_matrix* const matrix = small.matrix();
  sptile_plan_options options = options_for(1);
  sptile_attribute precision = {"precision", SPTILE_PRECISION_TF32};  // the minimum
  options.attributes = &precision;
  options.attribute_count = 1;
  sptile_plan* plan = nullptr;
  REQUIRE(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_OK);
  CHECK(describe(plan).precision == SPTILE_PRECISION_FP32);
  float b[3] = {1, 1, 1}, c[3] = {};
  sptile_operands operands = SPTILE_OPERANDS_INIT;
  operands.dense[0] = {b, 1, 0};
  operands.dense[1] = {c, 1, 0};
  const sptile_workspace none = {nullptr, 0};
  CHECK(sptile_run(plan, &operands, nullptr, &none) == SPTILE_STATUS_OK);
  CHECK(c[0] == 3);
  CHECK(sptile_run(plan, &operands, c, nullptr) == SPTILE_STATUS_USAGE);  // no streams on the CPU
  CHECK(says("does not accept a stream"));
  sptile_plan_destroy(plan);
  precision.value = 99;
  CHECK(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_USAGE);
  CHECK(says("options.attributes[0]: precision = 99; use 0 (default), 1 (fp32)"));
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: structs of newer callers, and of none") {
  const Small small;
  sptile_matrix* const matrix = small.matrix();
  struct Newer {
    sptile_plan_options known = SPTILE_PLAN_OPTIONS_INIT;
    std::int64_t added = 0;
  } newer;
  newer.known.size = sizeof newer;
  newer.known.n = 1;
  sptile_plan* plan = nullptr;
  CHECK(sptile_plan_create(matrix, "spmm", &newer.known, &plan) == SPTILE_STATUS_OK);
  struct NewerInfo {
    sptile_plan_info known = {};
    std::int64_t added = 1;
  } info;
  info.known.size = sizeof info;
  CHECK(sptile_plan_describe(plan, &info.known) == SPTILE_STATUS_OK);
  CHECK(info.added == 0);
  CHECK(info.known.size == sizeof info);
  info.known.size = 8;
  CHECK(sptile_plan_describe(plan, &info.known) == SPTILE_STATUS_USAGE);
  sptile_plan_destroy(plan);
  newer.added = 1;
  CHECK(sptile_plan_create(matrix, "spmm", &newer.known, &plan) == SPTILE_STATUS_USAGE);
  CHECK(says("does not support"));
  CHECK(plan == nullptr);
  sptile_plan_options raw = {};  // size 0
  raw.n = 1;
  CHECK(sptile_plan_create(matrix, "spmm", &raw, &plan) == SPTILE_STATUS_USAGE);
  CHECK(says("options.size = 0"));
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: bad arguments of options") {
  const Small small;
  sptile_matrix* const matrix = small.matrix();
  const auto status = [&](auto change) {
    sptile_plan_options changed = options_for(1);
    change(changed);
    sptile_plan* plan = reinterpret_cast<sptile_plan*>(&changed);
    const sptile_status result = sptile_plan_create(matrix, "spmm", &changed, &plan);
    CHECK(plan == nullptr);  // a failure leaves no handle behind
    CHECK(std::strlen(sptile_last_error()) > 0);
    return result;
  };
  CHECK(status([](auto& o) { o.n = 0; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& o) { o.n = -5; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& o) { o.n = INT64_MAX; }) == SPTILE_STATUS_UNSUPPORTED);
  CHECK(status([](auto& o) { o.threads = -1; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& o) { o.dense = 77; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& o) { o.dense = SPTILE_DTYPE_I32; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& o) { o.dense = SPTILE_DTYPE_F64; }) == SPTILE_STATUS_UNSUPPORTED);
  CHECK(status([](auto& o) { o.device = 9; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& o) { o.kernel = "cpu.csr.abacus"; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& o) { o.format = "abacus"; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& o) { o.format = "bittcf"; }) == SPTILE_STATUS_USAGE);  // the CPU does not convert
  CHECK(says("has no format bittcf"));
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: bad arguments of plans") {
  const Small small;
  sptile_matrix* const matrix = small.matrix();
  const sptile_plan_options options = options_for(2);
  sptile_plan* plan = nullptr;
  CHECK(sptile_plan_create(matrix, "spmm", &options, nullptr) == SPTILE_STATUS_USAGE);
  CHECK(says("plan is NULL"));
  CHECK(sptile_plan_create(nullptr, "spmm", &options, &plan) == SPTILE_STATUS_USAGE);
  CHECK(says("matrix is NULL"));
  CHECK(sptile_plan_create(matrix, nullptr, &options, &plan) == SPTILE_STATUS_USAGE);
  CHECK(says("operation is NULL"));
  CHECK(sptile_plan_create(matrix, "multiply", &options, &plan) == SPTILE_STATUS_USAGE);
  CHECK(says("known: spmm, sddmm"));
  CHECK(sptile_plan_create(matrix, "spmm", nullptr, &plan) == SPTILE_STATUS_USAGE);
  CHECK(says("options is NULL"));
  CHECK(plan == nullptr);
  sptile_plan_info info = {};
  info.size = sizeof info;
  CHECK(sptile_plan_describe(nullptr, &info) == SPTILE_STATUS_USAGE);
  REQUIRE(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_OK);
  CHECK(sptile_plan_describe(plan, nullptr) == SPTILE_STATUS_USAGE);
  sptile_plan_destroy(plan);
  sptile_plan_destroy(nullptr);
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: bad arguments of a matrix in memory") {
  const Small small;
  const sptile_plan_options options = options_for(1);
  // What is wrong with the arrays is found when they are taken, what is in them when they are planned.
  const auto status = [&](auto change) {
    sptile_arrays arrays = small.arrays();
    change(arrays);
    sptile_matrix* matrix = reinterpret_cast<sptile_matrix*>(&arrays);
    sptile_status result = sptile_matrix_create(&arrays, nullptr, nullptr, &matrix);
    CHECK((result == SPTILE_STATUS_OK) == (matrix != nullptr));
    sptile_plan* plan = nullptr;
    if (result == SPTILE_STATUS_OK) result = sptile_plan_create(matrix, "spmm", &options, &plan);
    CHECK(plan == nullptr);
    sptile_matrix_destroy(matrix);
    return result;
  };
  CHECK(status([](auto& a) { a.rows = -1; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& a) { a.cols = -1; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& a) { a.nnz = -1; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& a) { a.rows = std::int64_t{1} << 31; }) == SPTILE_STATUS_UNSUPPORTED);
  CHECK(status([](auto& a) { a.nnz = INT64_MAX; }) == SPTILE_STATUS_BAD_INPUT);
  CHECK(status([](auto& a) { a.nnz = 2; }) == SPTILE_STATUS_BAD_INPUT);
  CHECK(says("row_ptr[3] = 3, but nnz = 2"));
  CHECK(status([](auto& a) { a.row = nullptr; }) == SPTILE_STATUS_USAGE);
  CHECK(says("arrays.row is NULL"));
  CHECK(status([](auto& a) { a.col = nullptr; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& a) { a.values = nullptr; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& a) { a.value_dtype = SPTILE_DTYPE_NONE; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& a) { a.value_dtype = SPTILE_DTYPE_I32; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& a) { a.layout = SPTILE_LAYOUT_COO; }) == SPTILE_STATUS_UNSUPPORTED);
  CHECK(status([](auto& a) { a.row_dtype = SPTILE_DTYPE_I32; }) == SPTILE_STATUS_UNSUPPORTED);
  CHECK(status([](auto& a) { a.disorder = SPTILE_DISORDER_SUM; }) == SPTILE_STATUS_UNSUPPORTED);
  CHECK(status([](auto& a) { a.device = 2; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& a) { a.reserved = 1; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& a) { a.size = 8; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& a) { a.cols = 2; }) == SPTILE_STATUS_BAD_INPUT);  // column 2 of 2
  const std::vector<std::int64_t> falling = {0, 3, 2, 3};
  CHECK(status([&](auto& a) { a.row = falling.data(); }) == SPTILE_STATUS_BAD_INPUT);
  sptile_matrix* matrix = nullptr;
  const sptile_arrays arrays = small.arrays();
  int stream = 0;
  CHECK(sptile_matrix_create(&arrays, nullptr, &stream, &matrix) == SPTILE_STATUS_USAGE);
  CHECK(sptile_matrix_create(nullptr, nullptr, nullptr, &matrix) == SPTILE_STATUS_USAGE);
  CHECK(sptile_matrix_create(&arrays, nullptr, nullptr, nullptr) == SPTILE_STATUS_USAGE);
  sptile_matrix_options bad = SPTILE_MATRIX_OPTIONS_INIT;
  bad.reserved = 1;
  CHECK(sptile_matrix_create(&arrays, &bad, nullptr, &matrix) == SPTILE_STATUS_USAGE);
  bad.size = 4;
  CHECK(sptile_matrix_create(&arrays, &bad, nullptr, &matrix) == SPTILE_STATUS_USAGE);
  CHECK(matrix == nullptr);
}

TEST_CASE("C interface: bad arguments of a matrix in device memory") {
  const Small small;  // in host memory: nothing here gets as far as to read it
  sptile_arrays arrays = small.arrays();
  arrays.device = SPTILE_DEVICE_CUDA;
  const auto status = [&](auto change) {
    sptile_arrays changed = arrays;
    change(changed);
    sptile_matrix* matrix = reinterpret_cast<sptile_matrix*>(&changed);
    const sptile_status result = sptile_matrix_create(&changed, nullptr, nullptr, &matrix);
    CHECK(matrix == nullptr);
    return result;
  };
  CHECK(status([](auto& a) { a.layout = 2; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& a) { a.disorder = 3; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& a) { a.row_dtype = SPTILE_DTYPE_F32; }) == SPTILE_STATUS_USAGE);
  CHECK(says("arrays.row_dtype = 8"));
  CHECK(status([](auto& a) { a.col_dtype = 1; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& a) { a.col = nullptr; }) == SPTILE_STATUS_USAGE);
  CHECK(status([](auto& a) { a.value_dtype = SPTILE_DTYPE_NONE; }) == SPTILE_STATUS_USAGE);
}

TEST_CASE("C interface: products with the transpose") {
  const Small small;
  for (const bool refreshable : {false, true}) {
    sptile_matrix* const matrix = small.matrix(refreshable);
    sptile_plan_options options = options_for(1);
    options.transpose = 1;
    sptile_plan* plan = nullptr;
    REQUIRE(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_OK);
    const std::vector<float> b = {1, 2, 3};
    std::vector<float> c(3);
    CHECK(spmm(plan, b.data(), c.data()) == SPTILE_STATUS_OK);
    CHECK(c == std::vector<float>{1, 9, 2});
    if (refreshable) {
      const std::vector<float> fresh = {10, 20, 30};
      CHECK(refresh(matrix, fresh.data(), 3) == SPTILE_STATUS_OK);
      CHECK(spmm(plan, b.data(), c.data()) == SPTILE_STATUS_OK);
      CHECK(c == std::vector<float>{10, 90, 20});
    }
    sptile_plan_destroy(plan);
    plan = nullptr;
    CHECK(sptile_plan_create(matrix, "sddmm", &options, &plan) == SPTILE_STATUS_USAGE);
    CHECK(says("swap its dense operands"));
    options.format = "bittcf";
    CHECK(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_USAGE);
    CHECK(plan == nullptr);
    sptile_matrix_destroy(matrix);
  }
}

TEST_CASE("C interface: bad arguments of runs and refreshes") {
  const Small small;
  sptile_matrix *const matrix = small.matrix(), *const changing = small.matrix(true);
  const sptile_plan_options options = options_for(2);
  sptile_plan* plan = nullptr;
  REQUIRE(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_OK);
  std::vector<float> b(6), c(6);
  const auto run = [&](const sptile_plan* with, void* data_b, std::int64_t ldb, void* data_c,
                       std::int64_t ldc) {
    sptile_operands operands = SPTILE_OPERANDS_INIT;
    operands.dense[0] = {data_b, ldb, 0};
    operands.dense[1] = {data_c, ldc, 0};
    return sptile_run(with, &operands, nullptr, nullptr);
  };
  CHECK(run(plan, b.data(), 2, c.data(), 2) == SPTILE_STATUS_OK);
  CHECK(run(nullptr, b.data(), 2, c.data(), 2) == SPTILE_STATUS_USAGE);
  CHECK(says("plan is NULL"));
  CHECK(run(plan, nullptr, 2, c.data(), 2) == SPTILE_STATUS_USAGE);
  CHECK(run(plan, b.data(), 1, c.data(), 2) == SPTILE_STATUS_USAGE);
  CHECK(run(plan, b.data(), -2, c.data(), 2) == SPTILE_STATUS_USAGE);
  CHECK(run(plan, b.data(), 2, nullptr, 2) == SPTILE_STATUS_USAGE);
  CHECK(run(plan, b.data(), 2, c.data(), 1) == SPTILE_STATUS_USAGE);
  CHECK(sptile_run(plan, nullptr, nullptr, nullptr) == SPTILE_STATUS_USAGE);
  sptile_operands operands = SPTILE_OPERANDS_INIT;
  operands.size = 16;
  CHECK(sptile_run(plan, &operands, nullptr, nullptr) == SPTILE_STATUS_USAGE);
  operands.size = sizeof operands;
  operands.reserved = 1;
  CHECK(sptile_run(plan, &operands, nullptr, nullptr) == SPTILE_STATUS_USAGE);

  float* const p = b.data();
  CHECK(refresh(matrix, p, 3) == SPTILE_STATUS_USAGE);  // not refreshable
  CHECK(says("not created as refreshable"));
  CHECK(refresh(nullptr, p, 3) == SPTILE_STATUS_USAGE);
  CHECK(refresh(changing, nullptr, 3) == SPTILE_STATUS_USAGE);
  CHECK(refresh(changing, p, 2) == SPTILE_STATUS_USAGE);
  CHECK(refresh(changing, p, 3, nullptr, SPTILE_DTYPE_NONE) == SPTILE_STATUS_USAGE);
  CHECK(refresh(changing, p, 3, plan) == SPTILE_STATUS_USAGE);  // of another matrix
  CHECK(says("belongs to a different matrix"));
  CHECK(sptile_matrix_refresh(changing, nullptr, nullptr) == SPTILE_STATUS_USAGE);
  sptile_plan* own = nullptr;
  REQUIRE(sptile_plan_create(changing, "spmm", &options, &own) == SPTILE_STATUS_OK);
  CHECK(refresh(changing, p, 3, own) == SPTILE_STATUS_OK);
  CHECK(refresh(changing, p, 3, nullptr, SPTILE_DTYPE_F64) == SPTILE_STATUS_USAGE);
  CHECK(refresh(changing, p, 3, nullptr, SPTILE_DTYPE_F32, p) ==
        SPTILE_STATUS_USAGE);  // the CPU has no streams
  sptile_plan_destroy(own);
  sptile_plan_destroy(plan);
  sptile_matrix_destroy(matrix);
  sptile_matrix_destroy(changing);
}

TEST_CASE("C interface: bad arguments of bundles") {
  auto* matrix = reinterpret_cast<sptile_matrix*>(&options_for);
  CHECK(sptile_matrix_open("no/such/file.h5", nullptr, &matrix) == SPTILE_STATUS_IO);
  CHECK(matrix == nullptr);
  CHECK(says("no/such/file.h5"));
  CHECK(sptile_matrix_open(nullptr, nullptr, &matrix) == SPTILE_STATUS_USAGE);
  CHECK(sptile_matrix_open("x.h5", nullptr, nullptr) == SPTILE_STATUS_USAGE);
}

TEST_CASE("C interface: types, orders and columns of plans and runs") {
  const Small small;
  sptile_matrix* const matrix = small.matrix();
  sptile_plan_options options = options_for(4);
  sptile_attribute attributes[] = {{"order", SPTILE_ORDER_CSR}, {"replan", 1}};
  options.attributes = attributes;
  options.attribute_count = 2;
  sptile_plan* plan = nullptr;
  REQUIRE(sptile_plan_create(matrix, "sddmm", &options, &plan) == SPTILE_STATUS_OK);
  const sptile_plan_info info = describe(plan);
  CHECK(info.order == SPTILE_ORDER_CSR);
  CHECK(info.result == SPTILE_DTYPE_F32);
  CHECK(info.least_n == 1);
  CHECK(info.stored == 0);
  const std::vector<float> x = {1, 2, 3};
  std::vector<float> out(3);
  sptile_operands operands = SPTILE_OPERANDS_INIT;
  operands.n = 1;
  operands.dense[0].data = operands.dense[1].data = const_cast<float*>(x.data());
  operands.dense[2].data = out.data();
  CHECK(sptile_run(plan, &operands, nullptr, nullptr) == SPTILE_STATUS_OK);
  CHECK(out == std::vector<float>{1, 3, 6});
  for (const std::int64_t n : {5, -1}) {
    operands.n = n;
    CHECK(sptile_run(plan, &operands, nullptr, nullptr) == SPTILE_STATUS_USAGE);
    CHECK(says("the plan supports 1 to 4"));
  }
  sptile_plan_destroy(plan);
  attributes[0].value = 2;
  CHECK(sptile_plan_create(matrix, "sddmm", &options, &plan) == SPTILE_STATUS_USAGE);
  CHECK(says("order = 2; use 0 (packed) or 1 (csr)"));
  options = options_for(4);
  options.result = 77;
  CHECK(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_USAGE);
  CHECK(says("options.result"));
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: each thread has its own last error") {
  CHECK(sptile_plan_describe(nullptr, nullptr) == SPTILE_STATUS_USAGE);
  const std::string mine = sptile_last_error();
  std::string first, second;
  std::thread([&] {
    first = sptile_last_error();
    (void)sptile_matrix_open(nullptr, nullptr, nullptr);
    second = sptile_last_error();
  }).join();
  CHECK(first.empty());
  CHECK_FALSE(second.empty());
  CHECK(mine == sptile_last_error());
}

TEST_CASE("C interface: samples dot products, and multiplies with them") {
  const Small small;
  sptile_matrix* const matrix = small.matrix(true);
  sptile_plan_options options = options_for(2);
  options.threads = 1;
  sptile_plan *sample = nullptr, *plan = nullptr;
  REQUIRE(sptile_plan_create(matrix, "sddmm", &options, &sample) == SPTILE_STATUS_OK);
  CHECK(describe(sample).entries == 3);
  const std::vector<float> x = {1, 2, 3, 4, 5, 6}, y = {1, 1, 2, 0, 0, 3};
  std::vector<float> out(3, 100);
  CHECK(sddmm(sample, x.data(), y.data(), out.data()) == SPTILE_STATUS_OK);
  CHECK(out == std::vector<float>{3, 6, 10});
  CHECK(sddmm(sample, x.data(), y.data(), out.data(), 2, -1, true) == SPTILE_STATUS_OK);
  CHECK(out == std::vector<float>{3, 18, 50});

  REQUIRE(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_OK);
  CHECK(refresh(matrix, out.data(), 3, sample) == SPTILE_STATUS_OK);
  const std::vector<float> b = {1, 2, 3, 4, 5, 6};
  std::vector<float> c(6);
  CHECK(spmm(plan, b.data(), c.data()) == SPTILE_STATUS_OK);
  CHECK(c == std::vector<float>{93, 114, 0, 0, 150, 200});
  CHECK(sddmm(sample, nullptr, y.data(), out.data()) == SPTILE_STATUS_USAGE);
  CHECK(sddmm(sample, x.data(), nullptr, out.data()) == SPTILE_STATUS_USAGE);
  CHECK(sddmm(sample, x.data(), y.data(), nullptr) == SPTILE_STATUS_USAGE);
  sptile_plan_destroy(plan);
  sptile_plan_destroy(sample);
  sptile_matrix_destroy(matrix);
}
